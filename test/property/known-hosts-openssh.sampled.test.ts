import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostKeyVerdict, matchingLines, trustFor } from '../../src/remote/keys/host-key-trust.ts';
import { isThorough, sampleOf } from '../sample.ts';
import { hasSshd, type KeyPair, makeKey, type Sshd, startSshd } from '../sshd/start-sshd.ts';

const alias = 'studio-1.lan';

interface Keys {
  /** The keys of the server, Ed25519, ECDSA and RSA. */
  readonly own: readonly KeyPair[];
  readonly foreign: readonly KeyPair[];
}

function hashed(name: string, salt: Buffer): string {
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
}

/** Names of a line: the looked-up names in every spelling, similar names, and rubbish. */
function namesArb(port: number): fc.Arbitrary<string> {
  const addressed = `[127.0.0.1]:${port}`;
  const word = fc.constantFrom(
    addressed,
    alias,
    '127.0.0.1',
    'STUDIO-1.LAN',
    '*',
    'studio-?.lan',
    `[127.0.0.*]:${port}`,
    `[*]:${port}`,
    '*.lan',
    'studio-1',
    'studio-1.lan.',
    '[127.0.0.1]:22',
    '??????-1.l*',
    'other',
    '',
    '127.*',
    'studio-1.l?n*',
  );
  const item = fc.tuple(fc.constantFrom('', '', '', '!'), word).map((parts) => parts.join(''));
  const salt = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes));
  const hash = fc
    .tuple(fc.constantFrom(addressed, alias, '127.0.0.1', 'other', 'STUDIO-1.lan'), salt)
    .map(([name, bytes]) => hashed(name, bytes));
  const shortSalt = fc.constantFrom('|1|AAAA|AAAA', '|1||', '|2|AAAA|BBBB', '|', '|1|AAAA');
  return fc.oneof(
    { weight: 5, arbitrary: fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(',')) },
    { weight: 4, arbitrary: hash },
    { weight: 1, arbitrary: hash.map((text) => `${text},${alias}`) },
    { weight: 1, arbitrary: shortSalt },
  );
}

function keyArb({ own, foreign }: Keys): fc.Arbitrary<string> {
  const key = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...own) },
    { weight: 2, arbitrary: fc.constantFrom(...foreign) },
  );
  const whole = key.map((one) => `${one.type} ${one.base64}`);
  const spaced = key.map((one) => `${one.type} \t ${one.base64}`);
  const broken = fc
    .tuple(key, fc.constantFrom('cut', 'type', 'short', 'none', 'comment', 'flip', 'rsa', 'dirty', 'digit'))
    .map(([one, how]) => {
      const text = one.base64;
      const flipped = `${text.slice(0, 60)}${text[60] === 'A' ? 'B' : 'A'}${text.slice(61)}`;
      const forms: Record<string, string> = {
        cut: `${one.type} ${text.slice(0, 40)}`,
        type: `ssh-rsa ${text}`,
        short: `ED25519 ${text}`,
        none: one.type,
        comment: `${one.type} #${text}`,
        flip: `${one.type} ${flipped}`,
        rsa: `rsa-sha2-512 ${text}`,
        dirty: `${one.type} ${text.slice(0, 10)}?${text.slice(10)}`,
        digit: `2048 35 ${text}`,
      };
      return forms[how] ?? '';
    });
  return fc.oneof({ weight: 6, arbitrary: whole }, { weight: 1, arbitrary: spaced }, { weight: 2, arbitrary: broken });
}

function fileArb(keys: Keys, port: number): fc.Arbitrary<string> {
  const marker = fc.oneof(
    { weight: 12, arbitrary: fc.constant('') },
    { weight: 2, arbitrary: fc.constantFrom('@revoked ', '@cert-authority ', '@revoked\t', '@revoked  ') },
    { weight: 1, arbitrary: fc.constantFrom('@unknown ', '@revoked @revoked ', '@', '@ ') },
  );
  const end = fc.constantFrom('', '', ' comment', ' a comment with blanks', '\r', '\t', ' #x');
  const start = fc.constantFrom('', '', '', ' ', '\t ');
  const entry = fc
    .tuple(start, marker, namesArb(port), fc.constantFrom(' ', '\t', '  '), keyArb(keys), end)
    .map((parts) => parts.join(''));
  // No line consists only of matching names, because OpenSSH 9.2 would then continue in its buffer, which contains an
  // earlier, longer line.
  const other = fc.constantFrom(
    '',
    '#',
    '# studio-1.lan ssh-ed25519 AAAA',
    'rubbish',
    '   ',
    `${alias} `,
    '\0',
    'ssh-ed25519 AAAA',
  );
  const line = fc.oneof({ weight: 6, arbitrary: entry }, { weight: 1, arbitrary: other });
  const file = fc
    .tuple(fc.array(line, { minLength: 0, maxLength: 8 }), fc.constantFrom('\n', ''))
    .map(([lines, last]) => lines.join('\n') + last);
  return file;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
    child.stdin?.end();
  });
}

async function inParallel<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const queue = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next[1], next[0]);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

function openSshVerdict(ran: Ran): string {
  if (ran.code === 0) return 'accepted';
  if (ran.stderr.includes('REVOKED HOST KEY DETECTED')) return 'revoked';
  if (ran.stderr.includes('IDENTIFICATION HAS CHANGED')) return 'changed';
  return /host key is known for|Host key verification failed/u.test(ran.stderr)
    ? 'unknown'
    : `unexpected: ${ran.stderr}`;
}

const verdictWord = (verdict: HostKeyVerdict): string =>
  verdict.kind === 'certificate-authority' ? 'unknown' : verdict.kind;

/** Our verdict on the key that the server would show for our algorithm order. */
function ourVerdict(text: string, server: Sshd, hostKeyAlias: string | undefined): string {
  const target = { host: '127.0.0.1', port: server.port, ...(hostKeyAlias === undefined ? {} : { hostKeyAlias }) };
  const trust = trustFor(target, { knownHosts: [{ file: 'known_hosts', text }] });
  const typeOf = (algorithm: string): string => (algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm);
  const shown = trust.algorithms.flatMap((one) => server.hostKeys.find((key) => key.type === typeOf(one)) ?? [])[0];
  return verdictWord(trust.judge(Buffer.from(shown?.base64 ?? '', 'base64')));
}

describe.runIf(hasSshd())('the known_hosts matcher', () => {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-known-hosts-'));
  const kinds = [
    ['ed25519', []],
    ['ecdsa', []],
    ['rsa', ['-b', '2048']],
  ] as const;
  const make = (name: string): readonly KeyPair[] =>
    kinds.map(([kind, bits]) => makeKey(folder, `${name}-${kind}`, kind, bits));
  const keys: Keys = { own: make('own'), foreign: make('foreign') };
  const user = makeKey(folder, 'user');
  const servers: Sshd[] = [];

  beforeAll(async () => {
    const start = (hostKeys: readonly KeyPair[]): Promise<Sshd> => startSshd({ userKeys: [user.publicLine], hostKeys });
    servers.push(...(await Promise.all([start(keys.own), start(keys.own.slice(0, 1))])));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  const files = (server: Sshd): readonly string[] =>
    sampleOf(fc.sample(fileArb(keys, server.port), { seed: 20_261_120, numRuns: 240 }), { few: 12, oneIn: 4 });
  const write = (text: string, index: number): string => {
    const file = join(folder, `known_hosts-${index}`);
    writeFileSync(file, text);
    return file;
  };

  it('matches the same lines as ssh-keygen -F', async () => {
    const [server] = servers;
    if (server === undefined) throw new Error('no server');
    let found = 0;
    const tried = files(server);
    await inParallel(tried, async (text, index) => {
      const file = write(text, index);
      for (const name of [`[127.0.0.1]:${server.port}`, alias, '127.0.0.1']) {
        const { stdout } = await run('ssh-keygen', ['-F', name, '-f', file]);
        const theirs = [...stdout.matchAll(/^# Host .* found: line (\d+)/gmu)].map((match) => Number(match[1]));
        found += theirs.length;
        expect({ text: JSON.stringify(text), name, lines: matchingLines(name, text).map(({ line }) => line) }).toEqual({
          text: JSON.stringify(text),
          name,
          lines: theirs,
        });
      }
    });
    expect(found).toBeGreaterThan(tried.length / 3);
  });

  it('gives the same verdicts as ssh', async () => {
    const counts = new Map<string, number>();
    for (const [at, server] of servers.entries()) {
      const mine = files(server).filter((_, index) => index % servers.length === at);
      await inParallel(mine, async (text, index) => {
        const file = write(text, index);
        const hostKeyAlias = index % 2 === 0 ? undefined : alias;
        const options = [
          'StrictHostKeyChecking=yes',
          `UserKnownHostsFile=${file}`,
          'GlobalKnownHostsFile=/dev/null',
          'BatchMode=yes',
          'UpdateHostKeys=no',
          'IdentitiesOnly=yes',
          ...(hostKeyAlias === undefined ? [] : [`HostKeyAlias=${hostKeyAlias}`]),
        ];
        const args = [
          '-F',
          'none',
          '-T',
          '-i',
          user.file,
          '-p',
          String(server.port),
          ...options.flatMap((one) => ['-o', one]),
        ];
        const theirs = openSshVerdict(await run('ssh', [...args, '--', `${server.user}@127.0.0.1`, 'exit 0']));
        counts.set(theirs, (counts.get(theirs) ?? 0) + 1);
        expect({ text, hostKeyAlias, verdict: ourVerdict(text, server, hostKeyAlias) }).toEqual({
          text,
          hostKeyAlias,
          verdict: theirs,
        });
      });
    }
    // Every verdict must occur often enough to prove something; the few files of `npm test` cannot ensure that.
    if (!isThorough) return;
    for (const kind of ['accepted', 'changed', 'unknown']) expect(counts.get(kind)).toBeGreaterThan(3);
  }, 180_000);
});
