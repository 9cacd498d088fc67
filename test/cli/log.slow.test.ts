import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fleetPlace } from './fleet.ts';
import { codesOf, ended, environment, json, mainFile } from './meshwright.ts';
import { schemaCheck } from './schema-check.ts';

const { place, run } = fleetPlace();

const fileOf = (name: string): string => join(place.folder, name);

type Line = Readonly<Record<string, unknown>>;
const linesOf = (name: string): readonly Line[] =>
  readFileSync(fileOf(name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

describe("a command's log", () => {
  it("records connections, host keys, commands, leases, steps, plans and apply's exit code", async () => {
    await run('sim', 'fault', 'cable-swapped', 'studio-1');
    const ran = await run('apply', '--sim', '--yes', '--json', '--log', 'apply.ndjson', '--log-level', 'debug');
    const lines = linesOf('apply.ndjson');
    expect(lines.flatMap(schemaCheck('log-line'))).toEqual([]);
    const { run: journal } = json(ran) as { run: string };
    expect([...new Set(lines.map((line) => line['run']))]).toEqual([journal]);
    const seen = (event: string): readonly Line[] => lines.filter((line) => line['event'] === event);
    const nodesOf = (event: string): readonly unknown[] => [...new Set(seen(event).map(({ node }) => node))].sort();
    for (const event of ['connecting', 'host-key', 'connected', 'sent', 'answered', 'lease', 'step-started']) {
      expect([event, nodesOf(event)]).toEqual([event, nodes]);
    }
    // Every command is logged with its name when it is sent and when it has ended.
    expect(seen('sent').map(({ name }) => name)).toEqual(expect.arrayContaining(['observe', 'take-lease', 'put']));
    expect(
      seen('answered')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(
      seen('sent')
        .map(({ name }) => name)
        .toSorted(),
    );
    expect(
      seen('step-ended')
        .map(({ step }) => step)
        .toSorted(),
    ).toEqual(
      seen('step-started')
        .map(({ step }) => step)
        .toSorted(),
    );
    expect(seen('blocker').map(({ isHands }) => isHands)).toContain(true);
    expect(seen('plan').map(({ changes }) => changes)).toEqual([expect.any(Number), 0]);
    expect(lines.at(-1)).toMatchObject({ event: 'verb-ended', exit: ran.code });
    const texts = readFileSync(fileOf('apply.ndjson'), 'utf8');
    expect(texts).not.toMatch(/\/bin\/sh|sudo -n|must /);
    await run('sim', 'fault', '--clear');
  });

  it('records findings and refused connections', async () => {
    await run('sim', 'fault', 'wrong-host-key', 'studio-3');
    const ran = await run('doctor', '--sim', '--json', '--log', 'doctor.ndjson');
    await run('sim', 'fault', '--clear');
    const lines = linesOf('doctor.ndjson');
    const about3 = lines
      .filter(({ node }) => node === 'studio-3')
      .map(({ event, level, code, verdict }) => [event, level, code ?? verdict]);
    expect(about3).toEqual([
      ['host-key', 'warn', 'changed'],
      ['refused', 'error', 'ssh/host-key-changed'],
      ['finding', 'error', 'ssh/host-key-changed'],
    ]);
    expect(lines.at(-1)).toMatchObject({ event: 'verb-ended', exit: ran.code, level: 'warn' });
  });

  it('records the error that stopped a command', async () => {
    const ran = await run('status', '--sim', 'studio-9', '--log', 'wrong.ndjson');
    const [, finding, end] = linesOf('wrong.ndjson');
    expect([ran.code, finding?.['event'], end?.['exit']]).toEqual([64, 'finding', 64]);
  });
});

describe('a log that cannot be written', () => {
  it('stops the command before anything is sent or stored', async () => {
    const journals = (): number => readdirSync(join(place.state, 'journal'), { recursive: true }).length;
    const before = journals();
    const ran = await run('apply', '--sim', '--yes', '--json', '--record', 'sent.ndjson', '--log', 'missing/log');
    expect([ran.code, codesOf(json(ran))]).toEqual([1, ['cli/cannot-write']]);
    expect([existsSync(fileOf('sent.ndjson')), journals()]).toEqual([false, before]);
  });

  it('is reported once if the disk fills up, and the command finishes', async () => {
    // A file may have 1 KiB here. Since the signal is ignored, a longer write fails as on a full disk.
    const limited = ['-c', 'trap "" XFSZ; ulimit -f 2; exec "$@"', 'sh', process.execPath, mainFile];
    const words = ['status', '--sim', '--log', 'full.ndjson', '--log-level', 'debug'];
    const child = spawn('/bin/sh', [...limited, ...words], { cwd: place.folder, env: environment(place) });
    const ran = await ended(child, words);
    expect([ran.code, ran.stderr.match(/cli\/log-incomplete/g)]).toEqual([0, ['cli/log-incomplete']]);
    expect(ran.stdout).toContain('studio-4');
  });
});

describe('invalid log options', () => {
  it.each([
    [['plan', '--sim', '--log-level', 'info'], '--log-level needs --log.'],
    [['plan', '--sim', '--log', 'x', '--log-level', 'all'], 'Levels: debug, info, warn, error.'],
    [['validate', '--log', 'x'], 'validate has no option --log.'],
  ])('are rejected: %j', async (words, why) => {
    const ran = await run(...words);
    expect([ran.code, ran.stderr.replaceAll(/\s+/g, ' '), existsSync(fileOf('x'))]).toEqual([
      64,
      expect.stringContaining(why),
      false,
    ]);
  });
});
