import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { type FileValue, filePart, fileText, first, second } from '../scenarios/converge-file.ts';
import { pathsNamed } from './disks.ts';
import { codesOf, json, meshwright, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { twoUnits } from './two-units.ts';

const file = (version: string, archive: string, updates: FileValue = { driver: 'softwareupdate' }): FileValue =>
  twoUnits(archive, (value) => {
    filePart(value)['macos'] = { version, accept: '>=26.4 <28', updates };
    filePart(value, 'ssh')['password'] = { env: 'MESH_PW' };
  });

const { place } = pairPlace(file('26.5', 'reference'));
const run = (...words: string[]): Promise<Ran> =>
  meshwright(place, [...words, '--sim'], { env: { MESHWRIGHT_TRUST: 'env=MESH_PW', MESH_PW: 'simulated' } });
const report = (ran: Ran): ReportDocument => {
  const document = json(ran);
  expect(schemaCheck('report')(document)).toEqual([]);
  return document as ReportDocument;
};
const flat = (text: string): string => text.replace(/\s+/g, ' ');

beforeAll(async () => {
  expect((await run('apply', '--yes')).code).toBe(0);
});

it('run upgrade-runtime needs --update-lock for a new version without a terminal', async () => {
  place.write('cluster.yaml', fileText(file('26.5', 'newer')));
  const [rehearsed = ''] = pathsNamed(place, 'cluster.lock');
  place.write('cluster.lock', readFileSync(rehearsed, 'utf8'));
  // Without --sim: what the lock lacks is refused before any Mac is contacted.
  const codes = async (...words: string[]): Promise<readonly string[]> =>
    codesOf(json(await meshwright(place, ['run', 'upgrade-runtime', '--all', '--yes', '--json', ...words])));
  expect(await codes()).toEqual(['lock/unresolved']);
  expect(await codes('--update-lock')).not.toContain('lock/unresolved');
  expect(await codes('--check')).not.toContain('lock/unresolved');
  rmSync(join(place.folder, 'cluster.lock'));
});

it('run upgrade-runtime asks for consent to its effects, and upgrades one unit after another', async () => {
  place.write('cluster.yaml', fileText(file('26.5', 'newer')));
  const shown = await run('run', 'upgrade-runtime', '--all', '--check');
  expect([shown.code, flat(shown.stdout)]).toEqual([
    2,
    expect.stringContaining('upgrade one unit after another: starts left, right; interrupts left, right'),
  ]);
  expect((await run('run', 'upgrade-runtime', '--all', '--yes')).code).toBe(5);
  // A rescue asks, too, although it may not run.
  const rescue = '{ nodes: all, tasks: [wait: { for: serving, deadline: 1s }], rescue: [upgrade: runtimes] }';
  place.write('rescue.yaml', `playbook: 1\nplays: [${rescue}]\n`);
  expect(codesOf(json(await run('run', 'rescue.yaml', '--yes', '--json')))).toEqual(['plan/not-allowed']);
  const ran = await run('run', 'upgrade-runtime', '--all', '--yes', '--allow', 'interrupt');
  expect([ran.code, flat(ran.stdout)]).toEqual([
    0,
    expect.stringMatching(/left changed \(serving\).*studio-1: kept serving.*right changed/),
  ]);
  expect((await run('run', 'upgrade-runtime', '--all', '--check')).code).toBe(0);
});

it('run upgrade-macos ends with 3 if a person installs updates, and the next run brings the placements back', async () => {
  place.write('cluster.yaml', fileText(file('26.7', 'newer', {})));
  const left = report(await run('run', 'upgrade-macos', '--all', '--yes', '--allow', 'interrupt', '--json'));
  expect([left.exit, codesOf(left)]).toEqual([3, ['upgrade/by-hand']]);
  const shown = await run('run', 'upgrade-macos', '--all', '--yes', '--allow', 'interrupt');
  expect([shown.code, flat(shown.stdout)]).toEqual([3, expect.stringMatching(/install macOS 26\.7 on.*Manual steps/)]);
  const hands = await meshwright(place, ['sim', 'hands', 'update', first, second, '26.7']);
  expect([hands.code, hands.stderr]).toEqual([0, '']);
  const after = await run('run', 'upgrade-macos', '--all', '--check');
  expect([after.code, flat(after.stdout)]).toEqual([2, expect.stringContaining('starts left, right')]);
  expect((await run('run', 'upgrade-macos', '--all', '--yes')).code).toBe(0);
  expect((await run('ask', 'left', 'hello')).code).toBe(0);
});

it('run upgrade-macos updates cabled Macs together, and never in smaller batches', async () => {
  place.write('cluster.yaml', fileText(file('27.0', 'newer')));
  place.write('small.yaml', 'playbook: 1\nplays: [{ nodes: all, serial: 1, tasks: [upgrade: macos] }]\n');
  const small = await run('run', 'small.yaml', '--check');
  expect([small.code, flat(small.stderr)]).toEqual([
    65,
    expect.stringContaining('A cable or a placement connects studio-1,4, so these 2 Macs stop together'),
  ]);
  const shown = report(await run('run', 'upgrade-macos', '--all', '--check', '--json'));
  expect(
    shown.batches?.flatMap(({ tasks }) => tasks.flatMap(({ effects }) => effects.map(({ kind }) => kind))),
  ).toEqual(expect.arrayContaining(['interrupt', 'reboot']));
  expect((await run('run', 'upgrade-macos', '--all', '--yes', '--allow', 'interrupt')).code).toBe(5);
  const ran = await run('run', 'upgrade-macos', '--all', '--yes', '--allow', 'interrupt,reboot');
  expect([ran.code, ran.stderr]).toEqual([0, expect.any(String)]);
  const facts = json(await run('facts', '--fact', 'macos-version', '--json')) as { readonly nodes: object };
  expect(JSON.stringify(facts.nodes).match(/"27\.0"/g)).toHaveLength(2);
  expect((await run('status')).code).toBe(0);
});
