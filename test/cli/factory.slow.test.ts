import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileText, pairFile, writeSources } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { json, meshwright, type Ran } from './meshwright.ts';
import { makePlace, type Place } from './place.ts';

let place: Place;
beforeAll(async () => {
  place = makePlace();
  place.write('cluster.yaml', fileText(pairFile()));
  await writeSources(place.folder);
});
afterAll(() => endPlace(place));

const run = (...words: string[]): Promise<Ran> => meshwright(place, words, { env: { OWN_PASSWORD: 'simulated' } });
const apply = (...more: string[]): Promise<Ran> => run('apply', '--sim', '--yes', ...more);

interface PlanJson {
  readonly blockers: readonly { readonly code: string }[];
  readonly changes: readonly { readonly node: string; readonly resource: string }[];
}

describe('sim up --factory', () => {
  it('simulates new Macs from enroll through manual steps to a serving placement', async () => {
    const up = await run('sim', 'up', '--factory');
    expect([up.code, up.stdout]).toEqual([0, expect.stringContaining('meshwright enroll --all --sim\n')]);
    expect((await run('plan', '--sim')).code).toBe(1);
    const enrolled = await run('enroll', '--sim', '--all', '--yes', '--password-env', 'OWN_PASSWORD');
    expect([enrolled.code, enrolled.stderr]).toEqual([0, '']);

    const { blockers, changes } = json(await run('plan', '--sim', '--json')) as PlanJson;
    expect(new Set(blockers.map(({ code }) => code))).toEqual(new Set(['rdma/disabled']));
    expect(changes.flatMap(({ node, resource }) => (node === 'studio-4' ? [resource] : []))).toEqual(
      expect.arrayContaining([
        ...['power/sleep', 'updates', 'thunderbolt-bridge/service', 'link-address/2/kept', 'wired-limit'],
        ...['keeper/files', 'keeper/loaded', 'runtime/reference', 'model/tiny'],
      ]),
    );

    expect((await apply('--update-lock')).code).toBe(3);
    const hands = await run('sim', 'hands');
    expect(hands.stdout).toContain('enabled RDMA on studio-4 in Recovery, and restarted the Mac');
    const [serving, again] = [await apply(), await apply()];
    expect([serving.code, again.code]).toEqual([0, 0]);
    expect(again.stdout).toContain('Nothing to change');
    expect((await run('ask', '--sim', 'chat', 'Hello')).code).toBe(0);
  });
});
