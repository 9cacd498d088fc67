import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../rack/running.ts';
import { fileText } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { codesOf, ended, environment, expectGolden, json, meshwright, start } from './meshwright.ts';
import { bareFile } from './pair.ts';
import { makeExamplePlace, makePlace, type Place, processesOf } from './place.ts';
import { schemaCheck } from './schema-check.ts';

let place: Place;
beforeAll(() => {
  place = makeExamplePlace();
});
afterAll(() => endPlace(place));

const run = (...words: string[]) => meshwright(place, words);

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

interface Pid {
  readonly pid: number;
}

describe('sim', () => {
  it('reports that no fleet is running before sim up', async () => {
    const rans = await Promise.all([
      run('sim', 'status'),
      run('sim', 'fault', 'clock-skew', 'studio-1'),
      run('sim', 'down'),
      run('status', '--sim'),
      run('enroll', '--sim', '--all'),
      run('exec', '--sim', '--all', '--', 'true'),
    ]);
    expect(rans.map((ran) => ran.code)).toEqual([1, 1, 0, 1, 1, 1]);
    await expectGolden('sim-not-running', place, rans.slice(0, 4));
    for (const ran of [...rans.slice(0, 2), ...rans.slice(3)]) expect(ran.stderr).toContain('sim/not-running');
  });

  it('reports why the state folder cannot be used', async () => {
    place.write('no-folder', '');
    const env = { MESHWRIGHT_STATE: join(place.folder, 'no-folder') };
    for (const words of [['status'], ['down']]) {
      const ran = await meshwright(place, ['sim', ...words], { env });
      expect([ran.code, ran.stdout]).toEqual([1, '']);
      expect(ran.stderr).toContain('sim/run-folder');
      expect(ran.stderr.replace(/\s+/g, ' ')).toMatch(/cannot be used: ENOTDIR.* Set MESHWRIGHT_STATE to a folder/);
    }
  });

  it('starts once, sets and clears a fault, and stops once', async () => {
    const rans = [
      await run('sim', 'up'),
      await run('sim', 'up'),
      await run('sim', 'fault', 'rdma-disabled', 'studio-3'),
      await run('sim', 'status'),
      await run('sim', 'fault', '--clear'),
      await run('enroll', '--sim', '--all'),
      await run('sim', 'down'),
      await run('sim', 'down'),
    ];
    expect(rans.map((ran) => ran.code)).toEqual(rans.map(() => 0));
    for (const ran of rans) expect(ran.stdout.toLowerCase()).toContain('simulated');
    await expectGolden('sim', place, rans);
    expect(processesOf(place)).toEqual([]);
  });

  it('performs the manual steps at the rack, and lists them', async () => {
    const rans = [
      await run('sim', 'up', '--fresh'),
      await run('sim', 'fault', 'cable-missing', 'studio-1:2'),
      await run('sim', 'fault', 'rdma-disabled', 'studio-3'),
      await run('sim', 'hands'),
      await run('sim', 'hands'),
      await run('sim', 'power-on', 'studio-1'),
      await run('sim', 'power-on', 'studio-9'),
      await run('sim', 'down'),
    ];
    expect(rans.map((ran) => ran.code)).toEqual([0, 0, 0, 0, 0, 0, 1, 0]);
    await expectGolden('sim-hands', place, rans.slice(3, 7));
    expect(rans[6]?.stderr).toContain('sim/unknown-node');
  });

  it('moves single plugs, and rejects impossible moves', async () => {
    await run('sim', 'up', '--fresh');
    const rans = [
      await run('sim', 'hands', 'unplug', 'studio-1:2'),
      await run('sim', 'hands', 'plug', 'studio-2:2', 'studio-1:5'),
      await run('sim', 'hands', 'move', 'studio-1:5', 'studio-1:3'),
      await run('sim', 'hands', 'swap', 'studio-1:3', 'studio-1:4'),
      await run('sim', 'hands', 'plug', 'studio-3:6', 'studio-4:6', '40g'),
      await run('sim', 'hands', 'unplug', 'studio-9:1'),
      await run('sim', 'hands', 'shove', 'studio-1:2'),
      await run('sim', 'hands', 'move', 'studio-1:2'),
      await run('sim', 'hands'),
    ];
    const asJson = await run('sim', 'hands', 'move', 'studio-1:2', 'studio-1:6', '--json');
    await run('sim', 'down');
    expect(rans.map((ran) => ran.code)).toEqual([0, 0, 1, 0, 0, 1, 64, 64, 0]);
    await expectGolden('sim-hands-plugs', place, rans);
    expect(schemaCheck('sim')(json(asJson))).toEqual([]);
  });

  it('writes an example with its files into an empty folder, and overwrites nothing', async () => {
    const ours = makePlace();
    const typed = (...words: string[]) => meshwright(ours, words);
    ours.write('taken', 'mine');
    mkdirSync(join(ours.folder, 'full'));
    ours.write('full/cluster.yaml', 'mine');
    const rans = [
      await typed('sim', 'example', 'rack'),
      await typed('sim', 'example', 'rack'),
      await typed('sim', 'example', 'taken'),
    ];
    const asJson = await typed('sim', 'example', 'other', '--json');
    const validated = await typed('-f', 'rack/cluster.yaml', 'validate');
    rans.push(await typed('sim', 'example', 'full'), await typed('sim', 'example'));
    expect([...rans, asJson, validated].map((ran) => ran.code)).toEqual([0, 64, 64, 64, 64, 0, 0]);
    await expectGolden('sim-example', ours, rans);
    expect(schemaCheck('sim')(json(asJson))).toEqual([]);
    const kept = ['taken', 'full/cluster.yaml'].map((name) => readFileSync(join(ours.folder, name), 'utf8'));
    expect(kept).toEqual(['mine', 'mine']);
    expect((await typed('sim', 'example', 'own', '--runtime', 'command')).stdout).toContain(
      'a small reference runtime',
    );
    const made = ['rack', 'own', 'own/models'].map((name) => readdirSync(join(ours.folder, name)).sort());
    expect(made).toEqual([['cluster.yaml', 'schemas'], ['cluster.yaml', 'dist', 'models', 'schemas'], ['tiny']]);
    ours.remove();
  });

  it('shows the names and targets of all faults', async () => {
    await expectGolden('sim-fault-list', place, [await run('sim', 'fault', '--list')]);
  });

  it('cleans up after a crash', async () => {
    const { pid } = json(await run('sim', 'up', '--json')) as Pid;
    process.kill(pid, 'SIGKILL');
    expect(await eventually(() => !isAlive(pid))).toBe(true);
    await expectGolden('sim-crashed', place, [await run('sim', 'status'), await run('sim', 'down')]);
    expect(processesOf(place)).toEqual([]);
  });

  it('explains why it cannot start', async () => {
    const blocked = join(place.root, 'a-file');
    writeFileSync(blocked, '');
    const inFile = await meshwright(place, ['sim', 'up', '--json'], {
      env: { MESHWRIGHT_STATE: join(blocked, 'state') },
    });
    const withColon = await meshwright(place, ['sim', 'up', '--json'], {
      env: { MESHWRIGHT_STATE: `${place.state}/a:b` },
    });
    expect([inFile.code, codesOf(json(inFile))]).toEqual([1, ['cli/cannot-write']]);
    expect([withColon.code, codesOf(json(withColon))]).toEqual([1, ['sim/run-folder']]);
    expect(processesOf(place)).toEqual([]);
  });

  it('uses the home folder by default, and reports if it is not writable', async () => {
    const bare = makePlace();
    const env = { ...environment(bare), MESHWRIGHT_STATE: undefined, HOME: '/dev/null' };
    bare.write(
      'cluster.yaml',
      'schema: 1\nname: rack\nnodes:\n  one: { host: a.lan, hardware: { model: "Mac15,14", memory: 512GB } }\n',
    );
    const readOnly = await ended(start(bare, ['sim', 'up', '--json'], { env }), []);
    bare.remove();
    expect([readOnly.code, codesOf(json(readOnly))]).toEqual([1, ['cli/cannot-write']]);
  });
});

describe.concurrent('sim of two Macs', () => {
  const smallText = fileText(bareFile());
  const places: Place[] = [];
  afterAll(async () => {
    await Promise.all(places.map(endPlace));
  });

  /** A place whose cluster file has two Macs, studio-1 and studio-4; its fleet is stopped at the end. */
  const smallPlace = () => {
    const own = makePlace();
    places.push(own);
    own.write('cluster.yaml', smallText);
    return { place: own, run: (...words: string[]) => meshwright(own, words) };
  };

  it('starts its Macs as if after a power loss, unless --fresh is given', async () => {
    const { place, run } = smallPlace();
    const journals = () => readdirSync(join(place.state, 'journal')).length;
    const script = 'sysctl -n iogpu.wired_limit_mb; cat kept; echo kept >kept';
    const observe = () => run('exec', '--sim', 'studio-1', '--', 'sh', '-c', script);
    await run('sim', 'up', '--fresh');
    const first = await observe();
    await run('sim', 'down');
    await run('sim', 'up');
    const second = await observe();
    expect((await run('hold', 'studio-1', '--sim', '--reason', 'test', '--yes')).code).toBe(0);
    expect(journals()).toBe(1);
    await run('sim', 'up', '--fresh');
    const third = await observe();
    expect(first.stdout).toContain('491520');
    expect(second.stdout).toMatch(/\| 0\n[\s\S]*kept/);
    expect(third.stdout).toContain('491520');
    expect(third.stdout).not.toContain('kept');
    expect(journals()).toBe(0);
  });

  it('reports a changed file, and sets a fault on several nodes', async () => {
    const { place: own, run } = smallPlace();
    const path = own.write('changing.yaml', smallText);
    const first = await run('-f', 'changing.yaml', 'sim', 'up');
    writeFileSync(path, smallText.replace('512GB', '256GB'));
    const again = await run('-f', 'changing.yaml', 'sim', 'up');
    const broken = await run('-f', 'changing.yaml', 'sim', 'fault', 'power-wrong', 'studio-1', 'studio-4', '--json');
    const bad = await run('-f', 'changing.yaml', 'sim', 'fault', 'power-wrong', 'studio-4', 'studio-9');
    await run('-f', 'changing.yaml', 'sim', 'down');
    expect(first.stdout).not.toContain('has changed');
    expect(again.stdout).toContain('The file has changed since');
    expect(json(broken)).toMatchObject({ faults: ['power-wrong studio-1', 'power-wrong studio-4'] });
    expect(bad.code).toBe(64);
  });

  it('prints JSON that matches its schema for every command', async () => {
    const { run } = smallPlace();
    const check = schemaCheck('sim');
    const words = [
      ['up'],
      ['up'],
      ['fault', 'clock-skew', 'studio-4'],
      ['status'],
      ['hands'],
      ['power-on', 'studio-4'],
      ['fault', '--list'],
      ['down'],
      ['down'],
    ];
    for (const one of words) {
      const ran = await run('sim', ...one, '--json');
      expect([one, check(json(ran)), ran.code, ran.stderr]).toEqual([one, [], 0, '']);
    }
  });

  it('pins a simulated key only in the simulated lock', async () => {
    const { place: own, run } = smallPlace();
    await run('sim', 'up');
    await run('sim', 'fault', 'wrong-host-key', 'studio-4');
    const refused = await run('enroll', '--sim', 'studio-4', '--yes');
    const unnamed = await run('enroll', '--sim', 'studio-4', '--yes', '--replace', '--json');
    expect(unnamed.code).toBe(5);
    const fingerprint: string = JSON.parse(unnamed.stdout).nodes['studio-4'].fingerprint;
    const replaced = await run('enroll', '--sim', 'studio-4', '--yes', '--replace', '--expect', fingerprint);
    const seen = await run('facts', '--sim', 'studio-4', '--fact', 'macos-version');
    expect([refused.code, replaced.code, seen.code]).toEqual([5, 0, 0]);
    expect(refused.stderr).toContain('meshwright enroll studio-4 --replace --sim');
    expect(() => statSync(join(own.folder, 'cluster.lock'))).toThrow();
  });
});
