import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasSshd, type KeyPair, makeKey, type Sshd, startSshd } from '../sshd/start-sshd.ts';
import { codesOf, expectGolden, json, meshwright } from './meshwright.ts';
import { makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';
import { onTerminal } from './terminal.ts';

const place = makePlace();
const lockPath = join(place.folder, 'cluster.lock');
const key = makeKey(place.home, 'own');
const other = makeKey(place.home, 'other');

let sshd: Sshd;
beforeAll(async () => {
  if (hasSshd()) sshd = await startSshd({ userKeys: [key.publicLine] });
});
afterEach(() => {
  for (const file of [lockPath, join(place.folder, 'cluster.yaml')]) rmSync(file, { force: true });
});
afterAll(async () => {
  await sshd?.stop();
  place.remove();
});

const words = (...more: string[]): readonly string[] => [
  'enroll',
  '127.0.0.1',
  '--port',
  String(sshd.port),
  '--user',
  sshd.user,
  ...(more.includes('--identity') ? [] : ['--identity', key.file]),
  ...more,
];
const enroll = (...more: string[]) => meshwright(place, words(...more));
const name = () => `[127.0.0.1]:${sshd.port}`;
const lockText = () => (existsSync(lockPath) ? readFileSync(lockPath, 'utf8') : '');

interface EnrollDocument {
  readonly nodes: Readonly<
    Record<string, { readonly fingerprint: string; readonly pin: string; readonly login: string }>
  >;
}

async function fingerprint(): Promise<string> {
  const document = json(await enroll('--json')) as EnrollDocument;
  return document.nodes['127.0.0.1']?.fingerprint ?? '';
}

/** A lock with a different host key than the server's, as after a reinstallation. */
const pinned = (wrong: KeyPair): string =>
  `lock: 1\nhostKeys:\n  "${name()}":\n    - "${wrong.type} ${wrong.base64}"\n`;

describe.runIf(hasSshd())('enroll without a cluster file', () => {
  it('pins nothing without a terminal, and shows the options that confirm a key', async () => {
    const [text, asJson] = [await enroll(), await enroll('--json')];
    expect([text.code, asJson.code, lockText()]).toEqual([5, 5, '']);
    expect(schemaCheck('enroll')(json(asJson))).toEqual([]);
    expect(asJson.stderr).toBe('');
    await expectGolden('enroll-no-answer', place, [text]);
  });

  it("pins by address in this folder's cluster.lock with --yes, and changes nothing the next time", async () => {
    const [first, again] = [await enroll('--yes'), await enroll()];
    expect(lockText()).toContain(`"${name()}":\n    - "${sshd.hostKey.type} ${sshd.hostKey.base64}"`);
    expect(first.stdout).toContain('pinned now in cluster.lock');
    expect(again.stdout).toContain('already pinned in cluster.lock');
    expect(again.stdout).toContain(`login      accepted for ${sshd.user}`);
    expect(schemaCheck('enroll')(json(await enroll('--json')))).toEqual([]);
  });

  it('pins only the fingerprint given with --expect', async () => {
    const right = await fingerprint();
    const wrong = await enroll('--expect', 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
    expect([wrong.code, lockText()]).toEqual([5, '']);
    expect(wrong.stderr).toContain('enroll/fingerprint-differs');
    expect((await enroll('--expect', right)).stdout).toContain('pinned now in cluster.lock');
    expect(lockText()).toContain(sshd.hostKey.base64);
  });

  it('refuses a changed key, and replaces it only with --replace and --expect', async () => {
    writeFileSync(lockPath, pinned(other));
    const refused = await enroll('--yes');
    expect([refused.code, lockText()]).toEqual([5, pinned(other)]);
    await expectGolden('enroll-changed', place, [refused]);
    const unnamed = await enroll('--yes', '--replace');
    expect([unnamed.code, lockText()]).toEqual([5, pinned(other)]);
    expect(unnamed.stderr).toContain(`--replace --yes --expect ${await fingerprint()}`);
    const replaced = await enroll('--yes', '--replace', '--expect', await fingerprint());
    expect(replaced.stdout).toContain('pinned now, replacing the old key in cluster.lock');
    expect(lockText()).toContain(sshd.hostKey.base64);
    expect(lockText()).not.toContain(other.base64);
  });

  it('prints the authorized_keys entry on one line if the key is refused', async () => {
    const ran = await enroll('--yes', '--identity', other.file);
    expect(ran.code).toBe(3);
    expect(ran.stderr.split('\n').map((line) => line.trim())).toContain(other.publicLine);
    await expectGolden('enroll-key-refused', place, [ran]);
  });

  it('reports that nothing is listening on the port', async () => {
    const gone = await startSshd({ userKeys: [] });
    await gone.stop();
    const ran = await meshwright(place, ['enroll', '127.0.0.1', '--port', String(gone.port), '--yes']);
    expect([ran.code, lockText()]).toEqual([1, '']);
    await expectGolden('enroll-refused', place, [ran]);
  });
});

describe.runIf(hasSshd())('enroll at a terminal', () => {
  it.each([
    ['y', 'y\r', 'pinned now in cluster.lock', undefined],
    ['yes', 'yes\r', 'pinned now in cluster.lock', undefined],
    ['n', 'n\r', 'not pinned: you answered no', 5],
    ['nothing', '\r', 'not pinned: you answered no', 5],
    ['yeah', 'yeah\r', 'not pinned: you answered no', 5],
    ['Ctrl-D', '\u0004', 'not pinned: you answered no', 5],
    ['Ctrl-C', '\u0003', 'interrupted: stopping cleanly', 130],
  ] as const)('pins the key only after y or yes: %s', async (_name, keys, shown, code) => {
    const ran = await onTerminal(place, words('--no-color'), { typing: { after: 'Pin this key? [y/N]', keys } });
    expect(ran.stdout).toContain(shown);
    expect(ran.stdout).not.toContain('    at ');
    if (code !== undefined) expect([ran.code, lockText()]).toEqual([code, '']);
    else expect(lockText()).toContain(sshd.hostKey.base64);
  });

  it('shows the key, where to compare it, and the question on one screen', async () => {
    const typing = { after: 'Pin this key? [y/N]', keys: 'n\r' };
    const ran = await onTerminal(place, words('--no-color'), { typing, env: { TERM: 'dumb' } });
    await expectGolden('enroll-question', place, [ran]);
  });
});

describe.runIf(hasSshd())('enroll of a node that is in the file', () => {
  const run = (...words: string[]) => meshwright(place, words, { env: { MESHWRIGHT_TRUST: `file=${key.file}` } });
  const clusterText = () =>
    `schema: 1\nname: rack\nssh: { user: ${sshd.user}, port: ${sshd.port}, identityFile: ${key.file} }\nnodes:\n  studio-1: { host: 127.0.0.1 }\n`;

  it('pins the key in the lock next to the file, so that facts trusts the node', async () => {
    place.write('cluster.yaml', clusterText());
    const before = await run('facts', '--json');
    expect([before.code, codesOf(json(before))]).toEqual([1, ['ssh/host-key-unknown']]);
    expect((await run('enroll', '--all', '--yes')).stdout).toContain('pinned now in cluster.lock');
    const after = await run('facts', '--json', '--fact', 'clock');
    expect(codesOf(json(after))).not.toContain('ssh/host-key-unknown');
  });

  it('is suggested by facts and exec for an unknown host key', async () => {
    place.write('cluster.yaml', clusterText());
    await expectGolden('host-key-unknown', place, [await run('facts'), await run('exec', '--all', '--', 'true')]);
  });
});

describe('enroll', () => {
  it('rejects missing and invalid arguments with exit code 64', async () => {
    const some = 'schema: 1\nname: rack\nnodes:\n  studio-1: { host: 127.0.0.1 }\n  studio-2: { host: 127.0.0.2 }\n';
    const without = [
      ['enroll'],
      ['enroll', '--all'],
      ['enroll', '-x.lan'],
      ['enroll', 'a/b'],
      ['enroll', 'a.lan', '--port', '0'],
    ];
    const rans = await Promise.all(without.map((one) => meshwright(place, one)));
    rans.push(await meshwright(place, ['enroll', 'a.lan', '--user', '-oX=y']));
    place.write('cluster.yaml', some);
    for (const one of [
      ['enroll'],
      ['enroll', 'studio-3'],
      ['enroll', '--all', '--expect', 'x'],
      ['enroll', 'studio-1', '--user', 'ana'],
    ]) {
      rans.push(await meshwright(place, one));
    }
    expect(rans.map((ran) => [ran.code, ran.stdout])).toEqual(rans.map(() => [64, '']));
    await expectGolden('enroll-usage', place, rans);
  });
});
