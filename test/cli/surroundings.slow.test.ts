import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listening } from '../rack/listening.ts';
import { makeKey } from '../sshd/start-sshd.ts';
import { fleetPlace } from './fleet.ts';
import { codesOf, ended, environment, json, mainFile, meshwright, start, widest } from './meshwright.ts';
import { onTerminal } from './terminal.ts';

const { place, run } = fleetPlace();
let silent: Server;
let silentPort = 0;
beforeAll(async () => {
  // Accepts every connection and never sends a byte.
  silent = createServer((socket) => void socket.on('error', () => undefined));
  silentPort = await listening(silent);
});
afterAll(() => silent.close());

// biome rejects control characters in an expression, so these are built from text.
const colorSequence = new RegExp(`${'\\u001b'}\\[\\d+m`, 'g');
const cursorSequence = new RegExp(`${'\\u001b'}\\[\\d+[AJ]`, 'g');

/** Runs a program with this standard output. */
const spawned = (program: string, words: readonly string[], stdout: 'pipe' | number = 'pipe') =>
  ended(
    spawn(program, words, { cwd: place.folder, env: environment(place), stdio: ['ignore', stdout, 'pipe'] }),
    words,
  );

/** Runs a shell text whose arguments are the command. */
const inShell = (text: string, ...words: readonly string[]) =>
  spawned('/bin/sh', ['-c', text, 'sh', process.execPath, mainFile, ...words]);

describe('a deleted current folder', () => {
  const fromThere = (...words: string[]) => inShell('mkdir gone && cd gone && rmdir ../gone && exec "$@"', ...words);

  it('is reported as a usage error', async () => {
    const text = await fromThere('status', '--sim');
    expect([text.code, text.stdout]).toEqual([64, '']);
    expect(text.stderr).toContain('The current folder no longer exists.');
    const document = await fromThere('status', '--sim', '--json');
    expect([document.code, codesOf(json(document))]).toEqual([64, ['cli/usage']]);
  });

  it('does not prevent --help', async () => {
    const helped = await fromThere('--help');
    expect([helped.code, helped.stderr]).toEqual([0, '']);
  });
});

// trust L2.
describe('SIGUSR1', () => {
  it('does not open the Node debugger', async () => {
    const gone = join(place.folder, 'silent.yaml');
    execFileSync('mkfifo', [gone]);
    const child = start(place, ['validate', gone]);
    const running = ended(child, []);
    // The signal listener is ready long before the command gives up on the pipe.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    child.kill('SIGUSR1');
    const ran = await running;
    expect([ran.code, ran.stderr.includes('is a pipe'), ran.stderr.includes('Debugger')]).toEqual([65, true, false]);
  });
});

describe('color', () => {
  it('appears only on a terminal, and not with NO_COLOR, --no-color or TERM=dumb', async () => {
    const words = ['status', '--sim', 'studio-1'];
    const [terminal, piped, unwanted, option, dumb] = await Promise.all([
      onTerminal(place, words),
      meshwright(place, words),
      onTerminal(place, words, { env: { NO_COLOR: '1' } }),
      onTerminal(place, [...words, '--no-color']),
      onTerminal(place, words, { env: { TERM: 'dumb' } }),
    ]);
    expect(terminal.stdout).toMatch(colorSequence);
    for (const ran of [piped, unwanted, option, dumb]) expect(ran.stdout).not.toMatch(colorSequence);
    expect(dumb.stdout).not.toContain('\u001b');
    expect([terminal.code, unwanted.code, option.code, dumb.code]).toEqual([0, 0, 0, 0]);
  });

  it('adds nothing to the plain text', async () => {
    const words = ['facts', '--sim', 'studio-1', '--fact', 'rdma-state,power'];
    const [colored, plain] = await Promise.all([onTerminal(place, words), run(...words)]);
    expect(colored.stdout.replaceAll(colorSequence, '')).toBe(plain.stdout);
  });
});

describe('the page width', () => {
  it.each([0, 1, 40, 200])('fits a terminal of %s columns', async (columns) => {
    const [status, wrong] = await Promise.all([
      onTerminal(place, ['status', '--sim', '--no-color'], { columns }),
      onTerminal(place, ['vaildate', '--no-color'], { columns }),
    ]);
    expect([status.code, wrong.code]).toEqual([0, 64]);
    expect(status.stdout).toContain('studio-4');
    if (columns >= 40) expect(widest(status.stdout.replaceAll(cursorSequence, ''))).toBeLessThanOrEqual(columns);
  });

  it('follows COLUMNS without a terminal', async () => {
    const ran = await meshwright(place, ['status', '--sim'], { env: { COLUMNS: '50' } });
    expect([ran.code, widest(ran.stdout) <= 50]).toEqual([0, true]);
  });
});

describe.concurrent('an unusual environment', () => {
  it('does not change facts, even with an odd time zone or a missing, empty or unwritable HOME', async () => {
    const words = ['facts', '--sim', 'studio-1', '--fact', 'boot-session,macos-version'];
    const plain = await run(...words);
    const odd = [
      { TZ: 'Antarctica/Troll' },
      { TZ: ':rubbish' },
      { HOME: undefined },
      { HOME: '' },
      { HOME: '/dev/null' },
    ];
    const rans = await Promise.all(odd.map((env) => meshwright(place, words, { env })));
    for (const [at, ran] of rans.entries()) {
      expect(ran, JSON.stringify(odd[at])).toMatchObject({ code: 0, stdout: plain.stdout });
    }
  });

  it('gets only ASCII output if it lacks UTF-8, but the values in JSON stay the same', async () => {
    const env = { LANG: 'C', LC_ALL: undefined };
    const words = [
      ['status', '--sim'],
      ['facts', '--sim'],
      ['facts', '--help'],
      ['sim', 'fault', '--list'],
      ['schema'],
    ];
    for (const ran of await Promise.all(words.map((one) => meshwright(place, one, { env })))) {
      const one = ran.words;
      expect([one, ran.code, /^[\n\t -~]*$/.test(ran.stdout + ran.stderr)]).toEqual([one, 0, true]);
    }
    const command = ['exec', '--sim', '--json', 'studio-1', '--', 'printf', 'gr\u00fc\u00df \u{1f600}'];
    const [utf8, ascii] = await Promise.all([meshwright(place, command), meshwright(place, command, { env })]);
    expect(ascii.stdout).toMatch(/^[\n -~]*$/);
    expect(json(ascii)).toEqual(json(utf8));
  });

  it('need not provide standard input', async () => {
    expect((await inShell('exec "$@" <&-', 'status', '--sim')).code).toBe(0);
  });
});

describe.concurrent('a reader of the output', () => {
  it('can close the pipe early without an error message', async () => {
    const ran = await inShell('"$@" | head -n 1', 'facts', '--sim', '--json');
    expect(ran).toMatchObject({ code: 0, stdout: '{\n', stderr: '' });
  });

  it('gets all of the output, even if the reader is slow', async () => {
    const text =
      'a=0123456789abcdef; a=$a$a$a$a; a=$a$a$a$a; for i in 1 2 3 4 5 6 7 8; do echo "$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a"; done';
    const ran = await inShell('"$@" | (sleep 2; wc -c)', 'exec', '--sim', '--all', '--', 'sh', '-c', text);
    const perLine = 'simulated studio-1 | '.length + 256 * 64 + 1;
    expect(Number(ran.stdout)).toBe(4 * 8 * perLine);
  });

  it.runIf(process.platform === 'linux')('causes an error and exit code 1 if its disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    const ran = await spawned(process.execPath, [mainFile, 'status', '--sim'], full);
    closeSync(full);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('cannot write the output');
    expect(ran.stderr).not.toContain('    at ');
  });
});

describe('an interrupted run with a hanging node', () => {
  const clusterText = () => {
    const port = silentPort;
    const { file } = makeKey(place.folder, `key-${port}-${Math.random()}`);
    return `schema: 1\nname: rack\nssh: { identityFile: ${file} }\nnodes:\n  dead: { host: 127.0.0.1, port: ${port} }\n`;
  };

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ] as const)("stops on %s with exit code %s long before the node's deadline", async (signal, code) => {
    place.write('dead.yaml', clusterText());
    const words = ['facts', '-f', 'dead.yaml', '--json', '--deadline', '10m'];
    const connected = new Promise<void>((resolve) => silent.once('connection', () => resolve()));
    const child = start(place, words);
    const run = ended(child, words);
    await connected;
    child.kill(signal);
    const ran = await run;
    expect(ran.code).toBe(code);
    expect(ran.stdout).toContain('"code": "run/interrupted"');
    expect(ran.stderr).toMatch(/^(interrupted|terminated|hung up): stopping cleanly/);
  });
});
