import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { textBelow, tracesOf } from '../secret-traces.ts';
import { type FaultServer, startFaultServer } from '../sshd/fault-server.ts';
import { makeKey } from '../sshd/start-sshd.ts';
import { fleetPlace, placeOf } from './fleet.ts';
import { codesOf, json, meshwright, type Ran, widest } from './meshwright.ts';
import { bareText, makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';
import { onTerminal } from './terminal.ts';

const banner = readFileSync(new URL('../sshd/filevault-banner.txt', import.meta.url), 'utf8');
/** A password that is encoded differently in JSON and in a URL. */
const wrong = 'Hunter2 "and&more"';

describe('unlock and secrets on a simulated rack', () => {
  const { place } = fleetPlace();
  const run = (env: Record<string, string>, ...words: string[]): Promise<Ran> => meshwright(place, words, { env });
  const states = (ran: Ran): unknown =>
    Object.entries((json(ran) as { nodes: Record<string, { state: string }> }).nodes).map(([name, one]) => [
      name,
      one.state,
    ]);

  it('need a password source, and leave no trace of a wrong password', async () => {
    await run({}, 'sim', 'fault', 'filevault-locked', 'studio-2');
    const named = await run({}, 'secrets', '--sim', '--json', 'studio-2');
    expect([named.code, schemaCheck('secrets')(json(named))]).toEqual([3, []]);
    expect(json(named)).toMatchObject({ nodes: { 'studio-2': { need: 'unlock', channels: ['ssh login message'] } } });

    const text = await run({}, 'secrets', '--sim');
    expect(text.stdout).toMatch(/^studio-rack {3}4 nodes: password needed now on studio-2 +simulated\n/);

    const without = await run({}, 'unlock', '--sim', '--all', '--json');
    expect([without.code, schemaCheck('unlock')(json(without))]).toEqual([3, []]);
    expect(codesOf((json(without) as { nodes: Record<string, unknown> }).nodes['studio-2'])).toEqual([
      'unlock/no-source',
    ]);

    const words = [
      'unlock',
      '--sim',
      '--all',
      '--password-env',
      'MESH_PW',
      '--record',
      'record',
      '--json',
      '--verbose',
    ];
    const refused = await run({ MESH_PW: wrong }, ...words);
    expect(refused.code).toBe(3);
    expect(codesOf((json(refused) as { nodes: Record<string, unknown> }).nodes['studio-2'])).toEqual([
      'ssh/password-refused',
    ]);
    const right = await run({ MESH_PW: 'simulated' }, ...words);
    expect([right.code, states(right)]).toEqual([
      0,
      [
        ['studio-1', 'not-locked'],
        ['studio-2', 'unlocked'],
        ['studio-3', 'not-locked'],
        ['studio-4', 'not-locked'],
      ],
    ]);
    const status = await run({}, 'sim', 'status');
    expect(status.stdout).not.toContain('filevault-locked');
    // The record of sent commands, the files of this computer, and the disks of the simulated Macs.
    const kept = [place.folder, place.state].map(textBelow);
    expect(kept.join('').includes('"command"')).toBe(true);
    expect(tracesOf(wrong, Buffer.from(`1${wrong}2`).toString('base64'))).toHaveLength(1);
    expect(tracesOf(wrong, [refused.stdout, refused.stderr, ...kept].join('\n'))).toEqual([]);
  });

  it('ask for the password at a terminal without echoing it', async () => {
    await run({}, 'sim', 'fault', 'filevault-locked', 'studio-3');
    const words = ['unlock', '--sim', 'studio-3'];
    const ran = await onTerminal(place, words, {
      typing: { after: 'Password of mesh on studio-3: ', keys: `${wrong}\r` },
    });
    await run({}, 'sim', 'fault', '--clear');
    expect([ran.code, ran.stdout.includes('ssh/password-refused')]).toEqual([3, true]);
    expect(ran.stdout).not.toContain(wrong);
  });

  it('report a Mac that is not locked', async () => {
    const ran = await run({}, 'unlock', '--sim', 'studio-1');
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, 'studio-1   not locked   simulated\n', '']);
  });

  it('reject two sources, and an invalid variable name without printing it', async () => {
    const two = await run({}, 'unlock', '--sim', 'studio-1', '--password-env', 'A', '--password-file', 'b');
    const bad = await run({}, 'unlock', '--sim', 'studio-1', '--password-env', wrong);
    const none = await run({}, 'unlock', '--sim');
    expect([two.code, bad.code, none.code]).toEqual([64, 64, 64]);
    expect(bad.stderr).not.toContain(wrong);
  });

  it("show whether each API key's source has a value, without printing the value", async () => {
    const text = readFileSync(join(place.folder, 'cluster.yaml'), 'utf8');
    const keys = 'apiKey: [{ env: KEY_OF_ANA }, { env: KEY_OF_BEN }]';
    const published = `
gateway: { node: ./dist/node-v22.0.0-darwin-arm64.tar.gz }
runtimes: { reference: { driver: command, archive: ./reference.tar.gz, command: ["{runtime}/bin/rank"] } }
models: { tiny: { source: ./tiny } }
placements:
  chat:
    { model: tiny, runtime: reference, nodes: [studio-1], transport: tcp, context: 4k, endpoint: { listen: lan, ${keys} } }
`;
    place.write('cluster.yaml', `${text}${published}`);
    const env = { KEY_OF_ANA: 'never-to-be-shown-0123456789', MESHWRIGHT_TRUST: 'env=KEY_OF_ANA\nenv=KEY_OF_BEN' };
    const [page, document] = [await run(env, 'secrets', '--sim'), await run(env, 'secrets', '--sim', '--json')];
    expect(page.stdout).toContain('env KEY_OF_ANA  found      key of chat\n');
    expect(page.stdout).toContain('env KEY_OF_BEN  not found  key of chat\n');
    expect(page.stdout).toMatch(/The environment variable KEY_OF_BEN is not\s+set\./);
    expect(page.stdout).toMatch(/^studio-rack {3}4 nodes: no password needed now +simulated\n/);
    expect(page.stdout).toMatch(/ {2}studio-1\.\.4 {2}not needed\n$/);
    const narrow = await run({ ...env, COLUMNS: '40' }, 'secrets', '--sim');
    expect(widest(narrow.stdout)).toBeLessThanOrEqual(40);
    expect(schemaCheck('secrets')(json(document))).toEqual([]);
    expect(json(document)).toMatchObject({ keys: [{ placement: 'chat', state: 'resolves' }, { state: 'missing' }] });
    for (const { stdout, stderr } of [page, document]) expect(stdout + stderr).not.toContain('never-to-be-shown');
    place.write('cluster.yaml', text);
  });
});

describe('reboot of Macs with FileVault', () => {
  const text = bareText
    .replace('  fileVault: any', '  fileVault: enabled')
    .replace(/^ssh:$/m, 'ssh:\n  password: { env: MESH_PW }');
  const { place } = placeOf(text);
  const run = (env: Record<string, string>, ...words: string[]): Promise<Ran> =>
    meshwright(place, words, { env: { MESHWRIGHT_TRUST: 'env=MESH_PW', ...env } });

  it('authorizes it with the password, which leaves no trace, and the Mac starts unlocked', async () => {
    const kept = ['--record', 'record', '--verbose'];
    const ran = await run({ MESH_PW: 'simulated' }, 'reboot', '--sim', 'studio-2', '--yes', ...kept);
    expect(ran.code).toBe(0);
    expect(ran.stdout.replace(/\s+/g, ' ')).toContain(
      'Before the restart, macOS gets the password from env MESH_PW, and then starts without asking for it.',
    );
    const history = await run({}, 'history', '--sim', '--json');
    expect(history.stdout).toContain('studio-2/authorize-restart');
    // Nothing had to be unlocked.
    expect(existsSync(join(place.state, 'unlock'))).toBe(false);
  });

  it('restarts nothing if macOS rejects the password', async () => {
    const ran = await run({ MESH_PW: wrong }, 'reboot', '--sim', 'studio-2', '--yes', '--record', 'record', '--json');
    const { steps } = json(ran) as ReportDocument;
    expect(steps.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['studio-2/authorize-restart', 'failed'],
      ['studio-2/reboot', 'skipped'],
    ]);
    expect(ran.code).not.toBe(0);
    expect(ran.stdout).toContain('macOS rejected the password for the disk: Error: Unable to unlock FileVault.');
    const kept = [place.folder, place.state].map(textBelow);
    expect(tracesOf(wrong, [ran.stdout, ran.stderr, ...kept].join('\n'))).toEqual([]);
  });

  it('is refused, or exits with 3 and suggests unlock, if no password can be read', async () => {
    const words = ['reboot', '--sim', 'studio-2', '--yes'];
    expect((await run({}, ...words)).code).toBe(5);
    const ran = await run({}, ...words, '--allow', 'locked-reboot');
    expect(ran.code).toBe(3);
    expect(ran.stdout.replace(/\s+/g, ' ')).toContain('Find out why there is no password from env MESH_PW');
    expect(ran.stderr).toContain('meshwright unlock studio-2 --sim');
    const refused = await run({ MESH_PW: wrong }, 'unlock', '--sim', 'studio-2');
    const apply = await run({ MESH_PW: wrong }, 'plan', '--sim');
    expect(refused.code).toBe(3);
    expect(apply.stdout).toContain('meshwright unlock studio-2 --sim');
    expect((await run({ MESH_PW: 'simulated' }, 'unlock', '--sim', 'studio-2')).code).toBe(0);
  });
});

describe('unlock of a Mac with an unknown preboot key', () => {
  const place = makePlace();
  const normal = makeKey(place.home, 'normal');
  const preboot = makeKey(place.home, 'preboot');
  const user = makeKey(place.home, 'user');
  let server: FaultServer | undefined;
  const passwords: string[] = [];

  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });
  afterAll(() => place.remove());

  /** A locked Mac that refuses every password, and a file and a lock with its normal key. */
  async function locked(): Promise<void> {
    passwords.length = 0;
    const host = { privateKey: readFileSync(preboot.file, 'utf8'), pair: preboot };
    server = await startFaultServer(host, {
      banner,
      onAuth: (context) => {
        if (context.method === 'password') passwords.push(context.password);
        context.reject(['password']);
      },
    });
    const node = `{ host: 127.0.0.1, port: ${server.port}, user: mesh, identityFile: ${user.file}, password: { env: MESH_PW } }`;
    place.write('cluster.yaml', `schema: 1\nname: rack\nnodes:\n  studio-1: ${node}\n`);
    const { type, base64 } = normal;
    place.write('cluster.lock', `lock: 1\nhostKeys:\n  "[127.0.0.1]:${server.port}":\n    - "${type} ${base64}"\n`);
  }

  const env = { MESH_PW: wrong, MESHWRIGHT_TRUST: `env=MESH_PW\nfile=${user.file}` };
  const unlock = (...more: string[]): Promise<Ran> => meshwright(place, ['unlock', 'studio-1', ...more], { env });

  it('does not send a password without --yes, and shows the command that confirms', async () => {
    await locked();
    const needed = await meshwright(place, ['secrets', '--json'], { env });
    expect([needed.code, json(needed)]).toMatchObject([0, { nodes: { 'studio-1': { need: 'unlock' } } }]);
    const ran = await unlock();
    expect([ran.code, passwords]).toEqual([5, []]);
    expect(ran.stderr).toContain('cli/needs-yes');
    expect(ran.stderr).toMatch(/meshwright unlock studio-1 --expect SHA256:\S{43}/);
  });

  it('contacts no Mac and pins no key without permission to read the password', async () => {
    await locked();
    const before = readFileSync(join(place.folder, 'cluster.lock'), 'utf8');
    const only = { ...env, MESHWRIGHT_TRUST: `file=${user.file}` };
    const ran = await meshwright(place, ['unlock', 'studio-1', '--yes'], { env: only });
    expect([ran.code, ran.stderr.includes('--trust env=MESH_PW'), server?.counts.connections]).toEqual([5, true, 0]);
    expect(readFileSync(join(place.folder, 'cluster.lock'), 'utf8')).toBe(before);
  });

  it('asks at a terminal, and does not send a password if the answer is no', async () => {
    await locked();
    const ran = await onTerminal(place, ['unlock', 'studio-1'], { env, typing: { after: '[y/N]', keys: 'n\r' } });
    expect([ran.code, passwords]).toEqual([5, []]);
    expect(ran.stdout).toContain('The password will be sent to the Mac with this key. Pin this key?');
  });

  it('pins the preboot key next to the normal one with --yes, and sends the password once', async () => {
    await locked();
    const first = await unlock('--yes');
    expect(first.code).toBe(3);
    expect(first.stderr).toContain('ssh/password-refused');
    expect(passwords).toEqual([wrong]);
    const lock = readFileSync(join(place.folder, 'cluster.lock'), 'utf8');
    expect(lock).toContain(`prebootKeys:\n  "[127.0.0.1]:${server?.port}":\n    - "${preboot.type} ${preboot.base64}"`);
    expect(lock).toContain(normal.base64);
    const facts = await meshwright(place, ['facts', 'studio-1', '--json'], { env });
    expect([facts.code, codesOf(json(facts))]).toEqual([3, ['ssh/locked-at-filevault']]);
    expect(passwords).toEqual([wrong]);
  });

  it('rejects a key that is neither expected nor pinned', async () => {
    await locked();
    const other = makeKey(place.home, 'other');
    const expected = await unlock('--expect', `SHA256:${'A'.repeat(43)}`);
    expect([expected.code, passwords]).toEqual([5, []]);
    expect(expected.stderr).toContain('enroll/fingerprint-differs');
    const lock = readFileSync(join(place.folder, 'cluster.lock'), 'utf8');
    place.write(
      'cluster.lock',
      `${lock}prebootKeys:\n  "[127.0.0.1]:${server?.port}":\n    - "${other.type} ${other.base64}"\n`,
    );
    const changed = await unlock('--yes');
    expect([changed.code, passwords]).toEqual([5, []]);
    expect(changed.stderr).toContain('ssh/host-key-changed');
  });
});
