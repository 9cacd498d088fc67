import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type FaultServer, type Faults, startFaultServer } from '../sshd/fault-server.ts';
import { makeKey } from '../sshd/start-sshd.ts';
import { codesOf, expectGolden, json, meshwright, type Ran } from './meshwright.ts';
import { makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const place = makePlace();
const key = makeKey(place.home, 'own');
const hostKey = makeKey(place.home, 'host');
const banner = readFileSync(new URL('../sshd/filevault-banner.txt', import.meta.url), 'utf8');

let server: FaultServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});
afterAll(() => place.remove());

/** A node whose sudo prints this text and exits with this code. */
const sudoPrints = (text: string, code: number): Faults => ({
  onExec: ({ channel }) => {
    channel.stderr.write(text);
    channel.exit(code);
    channel.end();
  },
});

async function enroll(faults: Faults, ...more: string[]): Promise<Ran> {
  server = await startFaultServer({ privateKey: readFileSync(hostKey.file, 'utf8'), pair: hostKey }, faults);
  const words = ['127.0.0.1', '--port', String(server.port), '--user', 'mesh', '--identity', key.file];
  const ran = await meshwright(place, ['enroll', ...words, '--yes', ...more]);
  return ran;
}

const lines = (text: string): readonly string[] => text.split('\n').map((line) => line.trim());

describe('enroll', () => {
  it('succeeds if the key is accepted and sudo works', async () => {
    const ran = await enroll({});
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    await expectGolden('enroll-done', place, [ran]);
    expect(server?.commands).toHaveLength(1);
  });

  it('prints the sudo rule on one line if sudo asks for a password', async () => {
    const ran = await enroll(sudoPrints('sudo: a password is required\n', 1));
    expect(ran.code).toBe(3);
    expect(lines(ran.stderr)).toContain('mesh ALL=(root) NOPASSWD: /bin/sh -s');
    await expectGolden('enroll-sudo-password', place, [ran]);
  });

  it('reports that the user may not use sudo', async () => {
    const ran = await enroll(sudoPrints('mesh is not in the sudoers file.\n', 1), '--json');
    const document = json(ran) as { readonly nodes: { readonly '127.0.0.1': unknown } };
    expect([ran.code, codesOf(document.nodes['127.0.0.1'])]).toEqual([3, ['ssh/sudo-denied']]);
    expect(schemaCheck('enroll')(document)).toEqual([]);
  });

  it('reports the sudo state as unknown if the output of sudo is not recognized', async () => {
    const ran = await enroll(sudoPrints('sh: /usr/bin/sudo: not found\n', 127));
    expect(ran.code).toBe(3);
    await expectGolden('enroll-sudo-unknown', place, [ran]);
  });

  it('pins the key of a Mac locked at FileVault, without a password login', async () => {
    const ran = await enroll({ banner, onAuth: (context) => context.reject(['password']) });
    expect(ran.code).toBe(3);
    await expectGolden('enroll-locked', place, [ran]);
    expect(readFileSync(join(place.folder, 'cluster.lock'), 'utf8')).toContain(hostKey.base64);
    expect(server?.logins).not.toContain('password');
  });

  it('reports a server that does not speak SSH', async () => {
    const ran = await enroll({ onSocket: (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') }, '--json');
    const document = json(ran) as { readonly nodes: { readonly '127.0.0.1': unknown } };
    expect([ran.code, codesOf(document.nodes['127.0.0.1'])]).toEqual([1, ['ssh/not-ssh']]);
    expect(schemaCheck('enroll')(document)).toEqual([]);
  });
});

const trusted = () => ['--trust', `file=${key.file}`];

describe('replace', () => {
  it('does not write the lock if the Mac cannot be identified', async () => {
    server = await startFaultServer({ privateKey: readFileSync(hostKey.file, 'utf8'), pair: hostKey }, {});
    const ssh = `{ user: mesh, port: ${server.port}, identityFile: ${key.file} }`;
    const file = join(place.folder, 'replaced', 'cluster.yaml');
    mkdirSync(join(place.folder, 'replaced'));
    writeFileSync(file, `schema: 1\nname: rack\nssh: ${ssh}\nnodes:\n  studio-1: { host: 127.0.0.1 }\n`);
    const ran = await meshwright(place, ['replace', 'studio-1', '--file', file, '--yes', '--json', ...trusted()]);
    const document = json(ran) as { readonly nodes: { readonly 'studio-1': unknown } };
    expect([ran.code, codesOf(document.nodes['studio-1'])]).toEqual([5, ['fact/no-frames', 'enroll/mac-unseen']]);
    expect(existsSync(join(place.folder, 'replaced', 'cluster.lock'))).toBe(false);
  });
});

describe('enroll --replace of a Mac that cannot be identified', () => {
  const known = makeKey(place.home, 'known');
  const passwordOnly: Faults = {
    onAuth: (context) => (context.method === 'password' ? context.accept() : context.reject(['publickey', 'password'])),
  };

  it.each([
    ['by password', passwordOnly, 'password'],
    ['by key', {}, 'publickey:signed'],
  ] as const)('keeps the known host key after a login %s', async (how, faults, login) => {
    server = await startFaultServer({ privateKey: readFileSync(hostKey.file, 'utf8'), pair: hostKey }, faults);
    const folder = join(place.folder, how.replace(' ', '-'));
    const ssh = `{ user: mesh, port: ${server.port}, identityFile: ${key.file} }`;
    mkdirSync(folder);
    const file = join(folder, 'cluster.yaml');
    const lock = join(folder, 'cluster.lock');
    writeFileSync(file, `schema: 1\nname: rack\nssh: ${ssh}\nnodes:\n  studio-1: { host: 127.0.0.1 }\n`);
    const pins = `hostKeys:\n  "[127.0.0.1]:${server.port}":\n    - "ssh-ed25519 ${known.base64}"\n`;
    const before = `lock: 1\n${pins}identities:\n  studio-1: "${'a'.repeat(64)}"\n`;
    writeFileSync(lock, before);
    const words = [
      'enroll',
      'studio-1',
      '--file',
      file,
      ...trusted(),
      '--replace',
      '--yes',
      '--json',
      '--password-env',
      'OWN_PASSWORD',
    ];
    const env = { env: { OWN_PASSWORD: 'own' } };
    const nodeOf = (ran: Ran) => (json(ran) as { nodes: Record<string, Record<string, unknown>> }).nodes['studio-1'];
    const shown = nodeOf(await meshwright(place, words, env));
    const ran = await meshwright(place, [...words, '--expect', String(shown?.['fingerprint'])], env);
    expect(nodeOf(ran)).toMatchObject({ pin: 'refused', mac: 'unseen' });
    expect(codesOf(nodeOf(ran))).toContain('enroll/mac-unseen');
    expect(ran.code).toBe(5);
    expect(readFileSync(lock, 'utf8')).toBe(before);
    expect(server.logins).toContain(login);
    expect(schemaCheck('enroll')(json(ran))).toEqual([]);
  });
});
