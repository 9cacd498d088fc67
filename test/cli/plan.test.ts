import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectGolden, json, meshwright, meshwrightHere, type Ran, widest } from './meshwright.ts';
import { bareFile, fileIn, pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';

let asJson: Ran;
const { place } = pairPlace(bareFile());
beforeAll(async () => {
  for (const fault of [
    ['rdma-disabled', 'studio-4'],
    ['power-wrong', 'studio-1'],
  ]) {
    await meshwrightHere(place, ['sim', 'fault', ...fault]);
  }
  asJson = await run('plan', '--sim', '--json', '--out', 'saved.json');
});

const run = (...words: string[]): Promise<Ran> => meshwrightHere(place, words);

describe('plan', () => {
  it('shows the manual steps, the changes and the next command in 80 columns', async () => {
    const ran = await meshwright(place, ['plan', '--sim']);
    expect(widest(ran.stdout)).toBeLessThanOrEqual(80);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    await expectGolden('plan', place, [ran]);
  });

  it('prints and saves the same JSON document, which matches its schema', async () => {
    const document = json(asJson);
    expect(schemaCheck('plan')(document)).toEqual([]);
    expect(document).toMatchObject({ simulated: true, cluster: 'studio-rack' });
    expect(fileIn(place, 'saved.json')).toBe(asJson.stdout);
  });

  it('shows every root script in text and JSON, but saves none', async () => {
    const words = ['plan', '--sim', '--scripts'];
    const [text, scripted] = [await run(...words), await run(...words, '--json', '--out', 'unscripted.json')];
    const document = json(scripted) as {
      readonly scripts: readonly { readonly step: string; readonly text: string }[];
    };
    expect([text.code, text.stderr, schemaCheck('plan')(document)]).toEqual([0, '', []]);
    expect(fileIn(place, 'unscripted.json')).not.toContain('"scripts"');
    expect(text.stdout.match(/^# \d+ scripts for root/m)?.[0]).toBe(`# ${document.scripts.length} scripts for root`);
    for (const { step, text: script } of document.scripts) {
      expect(text.stdout).toContain(`# ${step}\n`);
      expect(text.stdout).toContain(script);
    }
    expect(spawnSync('/bin/sh', ['-n'], { input: text.stdout, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('is the same when run twice, and does not write the lock', async () => {
    const again = await run('plan', '--sim', '--json');
    const { diagnostics: _one, ...first } = json(asJson) as { readonly diagnostics: unknown };
    const { diagnostics: _two, ...second } = json(again) as { readonly diagnostics: unknown };
    expect(second).toEqual(first);
    expect(fileIn(place, 'cluster.lock')).toBeUndefined();
  });

  it('exits with 2 with --detailed-exitcode if changes are pending', async () => {
    expect((await run('plan', '--sim', '--detailed-exitcode')).code).toBe(2);
  });

  it('covers the chosen nodes, and shows the command that applies it', async () => {
    const ran = await run('plan', '--sim', 'studio-4', '--out', 'one.json');
    expect(ran.stdout).not.toContain('power/sleep');
    expect(ran.stdout).toContain('meshwright apply one.json --sim');
    expect(JSON.parse(fileIn(place, 'one.json') ?? '')).toMatchObject({ targets: ['studio-4'] });
    const named = await run('plan', '--sim', '--nodes', 'studio-1');
    expect(named.stdout).toContain('meshwright apply --nodes studio-1 --sim');
  });
});

describe('a plan for versions that break together', () => {
  it('warns at the version of the runtime, even if no Mac was observed', async () => {
    const text = [
      'schema: 1\nname: away\nmacos: { version: "26.1" }',
      'nodes: { a: { host: 127.0.0.1, port: 9 } }',
      'runtimes: { exo: { driver: exo, version: "1.0.71" } }',
      'models: { m: { source: ./m, repository: org/m } }',
      'placements: { chat: { model: m, runtime: exo, nodes: [a], transport: tcp, context: 1k } }\n',
    ].join('\n');
    place.write('pair.yaml', text);
    mkdirSync(join(place.folder, 'm'));
    place.write('m/config.json', '{}');
    const ran = await run('plan', '-f', 'pair.yaml');
    expect(ran.stdout).toContain('warning  pair.yaml:5:33, runtime exo: chat combines macOS 26.1 and exo 1.0.71.');
  });
});

describe('drift', () => {
  it('lists the differences and exits with 2', async () => {
    const ran = await run('drift', '--sim');
    expect(ran).toMatchObject({ code: 2, stderr: '' });
    await expectGolden('drift', place, [ran]);
  });

  it('prints one JSON document that matches its schema', async () => {
    const ran = await run('drift', '--sim', '--json');
    const document = json(ran);
    expect(schemaCheck('drift')(document)).toEqual([]);
    expect(document).toMatchObject({ blockers: [{ code: 'rdma/disabled', node: 'studio-4', hands: true }] });
  });

  it('makes no claims about a rack that could not be observed', async () => {
    place.write('away.yaml', 'schema: 1\nname: away\nnodes: { a: { host: 127.0.0.1, port: 9 } }\n');
    const ran = await run('drift', '-f', 'away.yaml');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain('No node was observed.');
  });
});

// Last, since it cuts the power of a Mac.
describe('plan --scripts with one unreachable Mac', () => {
  it('shows how many nodes were observed, but no script for the lost Mac', async () => {
    await run('sim', 'fault', 'power-cut', 'studio-4');
    const { stdout } = await run('plan', '--sim', '--scripts');
    expect(stdout).toMatch(/^# .*1 of 2 nodes/m);
    expect(stdout).not.toContain('#   studio-4/');
  });
});
