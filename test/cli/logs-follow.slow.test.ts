import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { codesOf, ended, environment, json, mainFile } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { logOf, writeLog } from './simulated-log.ts';
import { listenTo, type Talking } from './talking.ts';

const { place, run } = pairPlace(pairFile());
afterEach(() => {
  for (const node of ['studio-1', 'studio-4']) rmSync(logOf(place, node), { recursive: true, force: true });
});

const follow = (...more: string[]): Talking => listenTo(place, ['logs', 'chat', '--sim', '--follow', ...more]);

describe('logs --follow', () => {
  it("prints every rank's last lines and then its new lines, until Ctrl-C", async () => {
    writeLog(place, 'studio-1', 'one\ntwo\nthree\n');
    writeLog(place, 'studio-4', 'four');
    const following = follow('--lines', '2', '--record', 'followed.jsonl');
    await following.until('simulated studio-1 | three\n');
    appendFileSync(logOf(place, 'studio-4'), ' and a half\n');
    await following.until('simulated studio-4 | four and a half\n');
    appendFileSync(logOf(place, 'studio-1'), 'later \u001b[2J\nno end');
    await following.until('simulated studio-1 | later');
    const ran = await following.interrupt();
    expect(ran.code).toBe(130);
    expect(ran.stdout.split('\n').toSorted()).toEqual([
      '',
      'simulated studio-1 | later \\u{1b}[2J',
      'simulated studio-1 | no end',
      'simulated studio-1 | three',
      'simulated studio-1 | two',
      'simulated studio-4 | four and a half',
    ]);
    expect(ran.stderr).toMatch(/^interrupted: .*\n$/);
    const lines = readFileSync(join(place.folder, 'followed.jsonl'), 'utf8').trim().split('\n');
    const asked = lines.map((line) => JSON.parse(line) as { readonly node: string; readonly command: string });
    expect(new Set(asked.map(({ node }) => node))).toEqual(new Set(['studio-1', 'studio-4']));
    expect(asked.every(({ command }) => command.includes('base64'))).toBe(true);
  });

  it('prints lines of other programs that look like exo messages', async () => {
    const text = 'Executing command: warm-up\nStarting task 5\n';
    writeLog(place, 'studio-1', text);
    const ran = await run('logs', 'chat', '--sim', '--lines', '2');
    for (const line of text.trim().split('\n')) expect(ran.stdout).toContain(`simulated studio-1 | ${line}\n`);
    const following = follow();
    await following.until('simulated studio-1 | Starting task 5\n');
    appendFileSync(logOf(place, 'studio-1'), 'Starting task 6\n');
    await following.until('simulated studio-1 | Starting task 6\n');
    expect((await following.interrupt()).stdout).toContain('simulated studio-1 | Executing command: warm-up\n');
  });

  it('waits for a missing log, and reads a replaced log from the beginning', async () => {
    writeLog(place, 'studio-1', 'a first start that says much\n');
    const following = follow();
    await following.until('studio-4: chat has no log yet; waiting for it\n');
    await following.until('says much');
    writeLog(place, 'studio-4', 'here I am\n');
    await following.until('simulated studio-4 | here I am\n');
    writeLog(place, 'studio-1', 'a second one\n');
    await following.until('simulated studio-1 | a second one\n');
    const ran = await following.interrupt();
    expect(ran.code).toBe(130);
    expect(ran.stderr).toContain('studio-1: the log of chat starts over from the beginning\n');
  });

  it('reports a lost node, retries, and continues where it stopped', async () => {
    writeLog(place, 'studio-1', 'one\n');
    writeLog(place, 'studio-4', 'one\n');
    const following = follow();
    await following.until('studio-4 | one');
    await run('exec', '--sim', 'studio-4', '--', 'sudo', '-n', 'shutdown', '-h', 'now');
    await following.until('studio-4: trying again every 3 s\n');
    appendFileSync(logOf(place, 'studio-1'), 'two\n');
    await following.until('studio-1 | two');
    expect((await run('sim', 'power-on', 'studio-4')).code).toBe(0);
    await following.until('studio-4: answers again\n');
    appendFileSync(logOf(place, 'studio-4'), 'two\n');
    await following.until('studio-4 | two');
    const ran = await following.interrupt();
    expect(ran.code).toBe(130);
    expect(ran.stderr).toMatch(/studio-4 {2}error {2}ssh\/\S+/);
    expect(ran.stdout.match(/studio-4 \| one/g)).toHaveLength(1);
  });

  it('reports an unreadable log once, and shows the others', async () => {
    // Root can read every file, so this is a folder.
    mkdirSync(logOf(place, 'studio-1'), { recursive: true });
    writeLog(place, 'studio-4', 'one\n');
    const following = follow();
    await following.until('studio-4 | one');
    await following.until('logs/cannot-read');
    appendFileSync(logOf(place, 'studio-4'), 'two\n');
    await following.until('studio-4 | two');
    const ran = await following.interrupt();
    expect([ran.code, ran.stderr.match(/logs\/cannot-read/g)?.length]).toEqual([130, 1]);
  });

  it('exits when its output is no longer read', async () => {
    writeLog(place, 'studio-1', 'one\ntwo\n');
    const child = spawn(
      '/bin/sh',
      ['-c', '"$@" | head -n 1', 'sh', process.execPath, mainFile, 'logs', 'studio-1', '--sim', '--follow'],
      { cwd: place.folder, env: environment(place), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const writer = setInterval(() => appendFileSync(logOf(place, 'studio-1'), 'more\n'), 200);
    const ran = await ended(child, []).finally(() => clearInterval(writer));
    expect(ran).toMatchObject({ code: 0, stdout: 'simulated studio-1 | one\n', stderr: '' });
  });

  it('rejects --json', async () => {
    const ran = await run('logs', 'chat', '--sim', '--follow', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([64, ['cli/usage']]);
  });
});

describe('logs', () => {
  it('names the rank that failed first, marks its line, and explains the cause and the repair', async () => {
    writeLog(place, 'studio-1', 'waiting for the others\n');
    writeLog(place, 'studio-4', 'hello\ndyld[812]: Library not loaded: @rpath/libmlx.dylib\n');
    const ran = await run('logs', 'chat', '--sim');
    expect(ran.stdout.split('\n').filter((line) => line.startsWith('simulated studio-4'))).toEqual([
      'simulated studio-4 | hello',
      'simulated studio-4 ! dyld[812]: Library not loaded: @rpath/libmlx.dylib',
    ]);
    expect(ran.stderr).toContain('mesh/first-failing-rank');
    expect(ran.stderr).toContain('The program needs a library that is not on this Mac');
    expect(ran.stderr).toContain('Use a build of the program for macOS');
    expect(codesOf(json(await run('logs', 'chat', '--sim', '--json')))).toEqual(['mesh/first-failing-rank']);
  });

  it('adds nothing if no rank has failed', async () => {
    writeLog(place, 'studio-1', 'waiting for the others\n');
    writeLog(place, 'studio-4', 'hello\n');
    expect((await run('logs', 'chat', '--sim')).stderr).toBe('');
  });
});
