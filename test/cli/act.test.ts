import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { codesOf, ended, expectGolden, json, meshwright, type Ran, start } from './meshwright.ts';
import { placeWithPair } from './pair.ts';
import type { Place } from './place.ts';
import { schemaCheck } from './schema-check.ts';

let place: Place;
let tooEarly: Ran;
beforeAll(async () => {
  place = await placeWithPair(pairFile());
  tooEarly = await meshwright(place, ['logs', 'chat', '--sim', '--json']);
  const ran = await meshwright(place, ['apply', '--sim', '--yes']);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});
afterAll(() => endPlace(place));

const run = (...words: string[]) => meshwright(place, words);

describe('ask', () => {
  it('prints the answer of the placement, as text and as one JSON document', async () => {
    const [text, asJson] = await Promise.all([
      run('ask', 'chat', 'Hello?', '--sim'),
      run('ask', 'chat', 'Hello?', '--sim', '--json'),
    ]);
    expect([text.code, asJson.code]).toEqual([0, 0]);
    expect(text.stdout).toMatch(/^[0-9a-f]{64}\n$/);
    const document = json(asJson);
    expect(schemaCheck('ask')(document)).toEqual([]);
    expect(document).toMatchObject({ placement: 'chat', node: 'studio-1', answer: text.stdout.trim() });
  });
});

describe('logs', () => {
  it('shows what ranks have printed, of a placement or of a node', async () => {
    const [all, one, asJson] = await Promise.all([
      run('logs', 'chat', '--sim'),
      run('logs', 'studio-4', '--sim', '--lines', '1'),
      run('logs', 'chat', '--sim', '--json'),
    ]);
    expect(all.stdout).toMatch(/^simulated studio-1 \| .*\n(?:.*\n)*simulated studio-4 \| rank 1 of 2 listens/m);
    expect(one.stdout.split('\n')).toHaveLength(2);
    expect(schemaCheck('logs')(json(asJson))).toEqual([]);
    expect([all.code, one.code, asJson.code]).toEqual([0, 0, 0]);
  });

  it('are not there before the placement was started', () => {
    expect([tooEarly.code, codesOf(json(tooEarly))]).toEqual([1, ['logs/none', 'logs/none']]);
  });
});

describe('a verb that disturbs', () => {
  it('says what could be meant when nothing is named, and changes nothing', async () => {
    const rans = await Promise.all([
      run('stop', '--sim'),
      run('restart', 'chta', '--sim'),
      run('stop', 'studio-1', '--sim'),
      run('start', 'chat', '--all', '--sim'),
      run('reboot', '--sim'),
      run('shutdown', 'studio-9', '--sim'),
      run('ask', '--sim'),
      run('ask', 'chat', '--sim'),
      run('logs', '--sim'),
      run('lease', 'release', '--sim'),
      run('apply', '--sim', '--allow', 'reboot'),
    ]);
    expect(rans.map((ran) => [ran.code, ran.stdout])).toEqual(rans.map(() => [64, '']));
    await expectGolden('act-usage', place, rans);
  });

  it('needs a yes where nobody can be asked', async () => {
    const ran = await run('stop', 'chat', '--sim', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([5, ['cli/needs-yes']]);
    expect((await run('drift', '--sim')).code).toBe(0);
  });
});

describe('stop, start and restart', () => {
  it('bring a placement down and up again, and leave alone what is so already', async () => {
    const stopped = await run('stop', 'chat', '--sim', '--yes');
    expect([stopped.code, stopped.stdout]).toEqual([
      0,
      expect.stringContaining('placement/chat has been changed (stopped)'),
    ]);
    const silent = await run('ask', 'chat', 'Hello?', '--sim', '--json');
    expect([silent.code, codesOf(json(silent))]).toEqual([1, ['ask/no-answer']]);
    const started = await run('start', '--all', '--sim', '--yes');
    expect([started.code, started.stdout]).toEqual([
      0,
      expect.stringContaining('placement/chat has been changed (serving)'),
    ]);
    expect((await run('start', 'chat', '--sim')).code).toBe(0);
  });

  it('restart without rebooting a Mac, whatever was built on this computer since', async () => {
    await copyFile(join(place.folder, 'dist/newer.tar.gz'), join(place.folder, 'dist/reference.tar.gz'));
    const ran = await run('restart', 'chat', '--sim', '--yes', '--json');
    const document = json(ran) as { readonly steps: readonly { readonly act: string }[] };
    expect(schemaCheck('report')(document)).toEqual([]);
    expect(document.steps.some(({ act }) => act === 'reboot')).toBe(false);
    expect([ran.code, (await run('ask', 'chat', 'Hello?', '--sim')).code]).toEqual([0, 0]);
  });
});

describe('reboot and shutdown', () => {
  it('restart a Mac, bring back what it undoes, and start what served', async () => {
    const ran = await run('reboot', 'studio-4', '--sim', '--yes');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toMatch(/studio-4 has been restarted/);
    const limit = await run('exec', '--sim', 'studio-4', '--', 'sysctl', '-n', 'iogpu.wired_limit_mb');
    expect(limit.stdout).toContain('245760');
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(0);
  });

  it('switch a Mac off, and say how it comes back', async () => {
    const ran = await run('shutdown', 'studio-4', '--sim', '--yes');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('meshwright sim power-on studio-4');
    const left = await run('start', 'chat', '--sim', '--yes');
    expect(left.code).toBe(1);
    expect((await run('sim', 'power-on', 'studio-4')).code).toBe(0);
  });
});

describe('what interrupts a placement', () => {
  it('needs consent by name in apply, and nothing is changed without it', async () => {
    const stopped = pairFile((file) => {
      filePart(file, 'placements', 'chat')['state'] = 'stopped';
    });
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    place.write('cluster.yaml', fileText(stopped));
    const refused = await run('apply', '--sim', '--yes', '--json');
    expect([refused.code, codesOf(json(refused))]).toEqual([5, ['plan/not-allowed']]);
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(0);
    expect((await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code).toBe(0);
    expect((await run('ask', 'chat', 'Hello?', '--sim')).code).toBe(1);
  });
});

describe('history', () => {
  it('tells who did what, from the journals and from the nodes, also without a journal', async () => {
    const document = json(await run('history', '--sim', '--json')) as {
      readonly runs: readonly { readonly verb: string; readonly from: readonly string[] }[];
    };
    expect(schemaCheck('history')(document)).toEqual([]);
    const verbs = document.runs.map(({ verb }) => verb);
    expect(verbs).toEqual(expect.arrayContaining(['apply', 'stop', 'start', 'restart', 'reboot', 'shutdown']));
    await rm(join(place.state, 'journal'), { recursive: true });
    const told = json(await run('history', '--sim', '--json')) as typeof document;
    expect(told.runs.map(({ verb }) => verb)).toEqual(expect.arrayContaining(['apply', 'restart']));
    expect(told.runs.every(({ from }) => from.join() === 'node')).toBe(true);
  });
});

describe('a lease', () => {
  it('is shown while a run holds it, and is released when its run is dead', async () => {
    place.write('cluster.yaml', fileText(pairFile()));
    const words = ['apply', '--sim', '--yes', '--allow', 'interrupt'];
    const child = start(place, words);
    const end = ended(child, words);
    let held: unknown;
    while (held === undefined && child.exitCode === null) {
      const { nodes } = json(await run('lease', 'status', '--sim', '--json')) as {
        readonly nodes: Readonly<Record<string, { readonly held?: boolean }>>;
      };
      held = Object.values(nodes).find((one) => one.held);
    }
    child.kill('SIGKILL');
    await end;
    expect(held).toMatchObject({ verb: 'apply' });
    const other = await run('lease', 'release', '--all', '--run', 'another', '--sim', '--yes', '--json');
    expect([other.code === 0, codesOf(json(other))]).toEqual([false, expect.arrayContaining(['lease/other-run'])]);
    const released = await run('lease', 'release', '--all', '--sim', '--yes', '--json');
    expect([released.code, schemaCheck('lease')(json(released))]).toEqual([0, []]);
    const status = await run('lease', 'status', '--sim');
    expect([status.code, status.stdout.includes('nobody holds a node')]).toEqual([0, true]);
    expect((await run(...words)).code).toBe(0);
  });
});
