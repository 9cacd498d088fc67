import { chownSync, statSync, symlinkSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { concealed, type SecretSource } from '../../../src/model/secret.ts';
import { nodeSubject } from '../../../src/model/subject.ts';
import {
  type ResolvedSecret,
  readSecretFile,
  resolveSecret,
  runSecretCommand,
  type SecretContext,
} from '../../../src/secrets/resolve-secret.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { jsonText, onOnePage, say } from '../one-page.ts';

const { path: folder, at, write } = temporaryFolder();

const context: SecretContext = {
  subject: nodeSubject('studio-1'),
  env: { GOOD: 'hunter2 is long', EMPTY: '', ...(process.env['PATH'] ? { PATH: process.env['PATH'] } : {}) },
  folder,
  home: folder,
  question: 'Password of mesh on studio-1',
  allow: () => Promise.resolve(undefined),
};

const resolve = (source: SecretSource, more: Partial<SecretContext> = {}): Promise<ResolvedSecret> =>
  resolveSecret(source, { ...context, ...more });

async function text(source: SecretSource, more: Partial<SecretContext> = {}): Promise<string> {
  const found = await resolve(source, more);
  if (found.kind === 'resolved') return found.secret.reveal();
  say((jsonText(found.diagnostic) ?? '').replaceAll(folder, 'FOLDER').replaceAll(process.execPath, 'NODE'));
  return `${found.diagnostic.code}: ${plainText(found.diagnostic.detail)}`;
}

function file(name: string, content: string | Uint8Array, mode?: number): SecretSource {
  write(name, content, mode);
  return { kind: 'file', path: name };
}

const printing = (script: string): SecretSource => ({ kind: 'command', argv: [process.execPath, '-e', script] });

describe('a secret', () => {
  it('is hidden in templates, JSON, inspection and errors', () => {
    const secret = concealed('hunter2');
    const error = new Error(`with ${secret}`, { cause: secret });
    const nested = { deep: [secret, new Map([['a', secret]])], error, cause: error.cause };
    const shown = [
      `${secret}`,
      String(secret),
      JSON.stringify(nested),
      error.stack,
      inspect(nested, { depth: 9, showHidden: true }),
    ];
    expect(shown.join('\n')).not.toContain('hunter2');
    expect(Object.values(secret).join(' ')).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });

  it('is read from a variable, file, command or prompt without its final line break', async () => {
    expect(await text({ kind: 'env', name: 'GOOD' })).toBe('hunter2 is long');
    expect(await text(file('good', 'from a file\n'))).toBe('from a file');
    expect(await text(file('dos', 'from DOS\r\n'))).toBe('from DOS');
    symlinkSync(at('good'), at('link'));
    expect(await text({ kind: 'file', path: '~/link' })).toBe('from a file');
    expect(await text(printing('console.log("of a program")'))).toBe('of a program');
    expect(await text({ kind: 'prompt' }, { ask: async () => ' typed ' })).toBe(' typed ');
  });

  it('is prompted for with the given question', async () => {
    const asked: string[] = [];
    const ask = async (question: string): Promise<string> => {
      asked.push(question);
      return 'x';
    };
    await resolve({ kind: 'prompt' }, { ask });
    expect(asked).toEqual(['Password of mesh on studio-1: ']);
  });

  it('is refused if it is empty, multi-line, too long or not UTF-8, or contains NUL', async () => {
    const bad = [
      await text({ kind: 'env', name: 'EMPTY' }),
      await text(file('newline', '\n')),
      await text(file('lines', 'one\ntwo\n')),
      await text(file('long', 'x'.repeat(1_100))),
      await text(file('latin1', new Uint8Array([0xe4, 0x62]))),
      await text(file('nul', 'a\0b')),
      await text(printing('0')),
    ];
    expect(bad.map((one) => one.replace(/^(\S+): The password comes from (\w+).*?\. /u, '$1 $2 '))).toEqual([
      'secret/unusable env The value is empty.',
      'secret/unusable file The value is empty.',
      'secret/unusable file The value has more than one line.',
      'secret/unusable file The value is longer than 1024 bytes.',
      'secret/unusable file The value is not valid UTF-8.',
      'secret/unusable file The value contains a NUL byte.',
      'secret/unusable command The value is empty.',
    ]);
  });

  it('is refused if it comes from a file that other accounts can access', async () => {
    for (const mode of [0o644, 0o640, 0o604, 0o602, 0o620]) {
      expect(await text(file('open', 'hunter2\n', mode))).toMatch(/ has mode 6\d\d: other accounts/u);
      expect(await text(file('open', 'hunter2\n', mode))).toContain('secret/exposed: ');
    }
    expect(await text({ kind: 'file', path: folder })).toMatch(/^secret\/missing: .* is not a regular file\.$/u);
    expect(await text({ kind: 'file', path: 'nowhere' })).toMatch(/^secret\/missing: .*nowhere does not exist\.$/u);
  });

  it('is missing if the variable is unset or the prompt unavailable or canceled', async () => {
    expect(await text({ kind: 'env', name: 'NOBODY' })).toContain(
      'secret/missing: The password comes from env NOBODY.',
    );
    expect(await text({ kind: 'prompt' })).toContain('and there is none');
    expect(await text({ kind: 'prompt' }, { ask: async () => undefined })).toContain('The prompt was canceled.');
  });

  it("is missing if its command fails, and the command's output is not shown", async () => {
    const failing = await text(printing('console.log("hunter2"); console.error("hunter3"); process.exit(44)'));
    expect(failing).toMatch(/^secret\/missing: .* exited with status 44\.$/u);
    expect(failing).not.toMatch(/hunter/u);
    const ownStderr =
      'const f = require("fs"); process.stdout.write(String(f.fstatSync(2).rdev === f.statSync("/dev/null").rdev))';
    expect(await text(printing(ownStderr))).toBe('true');
    expect(await text({ kind: 'command', argv: ['/nowhere/at-all'] })).toContain('`/nowhere/at-all` does not exist.');
    for (const program of ['', `${process.execPath}/below-a-file`]) {
      expect(await text({ kind: 'command', argv: [program] })).toMatch(
        /^secret\/missing: .* could not be started \(E/u,
      );
    }
    // A loop of small writes would stop as soon as the pipe is full: Node would queue the writes and never send them.
    const long = await text(printing('process.stdout.write("hunter2".repeat(4_096)); setInterval(() => 0, 9)'));
    expect(long).toContain('printed too much');
    expect(long).not.toMatch(/hunter/u);
    const late = await runSecretCommand(
      { kind: 'command', argv: [process.execPath, '-e', 'setInterval(() => 0, 9)'] },
      { ...context, deadlineMs: 50 },
    );
    expect(late).toMatchObject({ kind: 'refused', why: expect.stringContaining('did not finish within 0.05 s') });
  });

  it('runs its command without the variables of other secrets', async () => {
    const argv = [process.execPath, '-p', '`${process.env.OTHER_KEY} ${process.env.VAULT}`'];
    const env = { ...context.env, OTHER_KEY: 'of another', VAULT: 'here' };
    const found = await resolveSecret({ kind: 'command', argv, hidden: ['OTHER_KEY'] }, { ...context, env });
    expect(found.kind === 'resolved' && found.secret.reveal()).toBe('undefined here');
  });

  it('runs its command without a shell', async () => {
    expect(await text({ kind: 'command', argv: ['/bin/echo', '$(id)', '; id'] })).toBe('$(id) ; id');
  });
});

describe('a secret file', () => {
  const isRoot = process.getuid?.() === 0;
  const read = (path: string) => readSecretFile(path, { folder, home: at('home') });
  const why = async (path: string) => {
    const raw = await read(path);
    return raw.kind === 'bytes' ? Buffer.from(raw.bytes).toString() : [raw.kind, raw.why, raw.hint];
  };

  it('is looked up below the home folder, the given folder or the root', async () => {
    const hint = 'Write the password into that file as its only line, with mode 600.';
    const nowhere = (path: string) => ['refused', `${path} does not exist.`, hint];
    expect(await why('~/x')).toEqual(nowhere(at('home/x')));
    expect(await why('~')).toEqual(nowhere(at('home')));
    expect(await why('~x')).toEqual(nowhere(at('~x')));
    expect(await why('/nowhere/x')).toEqual(nowhere('/nowhere/x'));
    file('plain', 'x');
    expect(await why('plain/below')).toEqual(nowhere(at('plain/below')));
    symlinkSync('loop', at('loop'));
    expect(await why('loop')).toEqual(['refused', `${at('loop')} cannot be read (ELOOP).`, hint]);
    expect(await why(folder)).toEqual(['refused', `${folder} is not a regular file.`, 'Use a regular file.']);
  });

  it('is read only up to 2,048 bytes', async () => {
    file('long', 'x'.repeat(3_000));
    expect(await why('long')).toHaveLength(2_048);
  });

  it('must belong to this user or root', async () => {
    file('own', 'secret');
    const path = at('own');
    if (isRoot) chownSync(path, 1_234, 1_234);
    const { uid } = statSync(path);
    const getuid = vi.spyOn(process, 'getuid');
    try {
      getuid.mockReturnValue(uid);
      expect(await why('own')).toBe('secret');
      getuid.mockReturnValue(uid + 1);
      const hint = `Change the password, then: chmod 600 ${path}`;
      expect(await why('own')).toEqual(['exposed', `${path} belongs to another user (uid ${uid}).`, hint]);
      if (isRoot) chownSync(path, 0, 0);
      if (isRoot) expect(await why('own')).toBe('secret');
    } finally {
      getuid.mockRestore();
    }
  });

  it('is not checked for its owner on a system without users', async () => {
    file('own', 'secret');
    const { getuid } = process;
    Reflect.set(process, 'getuid', undefined);
    try {
      if (isRoot) chownSync(at('own'), 1_234, 1_234);
      expect(await why('own')).toBe('secret');
    } finally {
      Reflect.set(process, 'getuid', getuid);
    }
  });

  it.runIf(isRoot)('is reported with a three-digit mode', async () => {
    file('open', 'secret', 0o044);
    expect(await why('open')).toMatchObject({ 1: expect.stringContaining('has mode 044: other accounts') });
  });
});

describe('a secret command', () => {
  const hint = 'Run that command manually and fix the problem it reports.';
  const run = async (script: string, more: { readonly signal?: AbortSignal } = {}) => {
    const raw = await runSecretCommand(
      { kind: 'command', argv: ['/bin/sh', '-c', script] },
      { env: { WORD: 'a word' }, folder, ...more },
    );
    return raw.kind === 'bytes' ? Buffer.from(raw.bytes).toString() : raw;
  };
  const refused = (why: string) => ({ kind: 'refused', why: `\`/bin/sh\` ${why}.`, hint });

  it('runs in the given folder with its own environment and no input', async () => {
    expect(await run('printf "%s " "$WORD" "$PWD" "$HOME" "$(/bin/cat)"')).toBe(`a word ${folder}  `.concat(' '));
  });

  it('yields its output only if it exits with 0 and prints at most 2,048 bytes', async () => {
    expect(await run('exit 3')).toEqual(refused('exited with status 3'));
    expect(await run('kill -TERM $$')).toEqual({ ...refused('was stopped by signal SIGTERM'), isStopped: true });
    expect(await run('printf %2048d 0')).toHaveLength(2_048);
    expect(await run('printf %2049d 0')).toEqual({ ...refused('printed too much'), isStopped: true });
  });

  it('reports an interruption, a missing program or a failed start', async () => {
    expect(await run('exit 0', { signal: AbortSignal.abort() })).toEqual(refused('was interrupted'));
    const none = await runSecretCommand({ kind: 'command', argv: [] }, { env: {}, folder });
    expect(none).toEqual({ kind: 'refused', why: '`` could not be started (ERR_INVALID_ARG_VALUE).', hint });
    const gone = await runSecretCommand({ kind: 'command', argv: ['/nowhere'] }, { env: {}, folder });
    expect(gone).toEqual({ kind: 'refused', why: '`/nowhere` does not exist.', hint });
  });
});

it('a secret may have exactly 1,024 bytes and a byte order mark', async () => {
  const longest = 'x'.repeat(1_024);
  expect(await text(file('longest', `${longest}\r\n`))).toBe(longest);
  expect(await text(file('longer', `${longest}x\r\n`))).toMatch(/The value is longer than 1024 bytes\.$/u);
  expect(await text(file('marked', '\ufeffx\n'))).toBe('\ufeffx');
});

onOnePage('resolve-secret');
