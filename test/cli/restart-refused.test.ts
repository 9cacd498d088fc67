import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { expectGolden, json, meshwright } from './meshwright.ts';
import { overRdma, placeWithPair } from './pair.ts';
import type { Place } from './place.ts';

let place: Place;
const run = (...words: string[]) => meshwright(place, words);

/** Writes into the count of a simulated Mac that it has no start over RDMA left. */
async function spendStarts(node: string): Promise<void> {
  const { nodes } = json(await run('sim', 'status', '--json')) as { nodes: Record<string, { root: string }> };
  const file = join(nodes[node]?.root ?? '', 'Library/Application Support/meshwright/rdma-starts');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^starts=.*$/m, 'starts=10'));
}

beforeAll(async () => {
  place = await placeWithPair(pairFile(overRdma));
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
  await spendStarts('studio-4');
});
afterAll(() => endPlace(place));

const placements = async (): Promise<unknown> =>
  (json(await run('status', '--sim', '--json')) as { placements: unknown }).placements;

describe('a placement whose Mac has no start over RDMA left', () => {
  it('goes on serving: restart and reboot of the other Mac say so before they stop anything', async () => {
    const rans = [await run('restart', 'chat', '--sim', '--yes'), await run('reboot', 'studio-1', '--sim', '--yes')];
    await expectGolden('restart-refused', place, rans);
    expect(await placements()).toMatchObject({ chat: { state: 'serving', generation: 1 } });
  });

  it('is brought back by a reboot of both Macs', async () => {
    expect((await run('reboot', 'studio-1', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect(await placements()).toMatchObject({ chat: { state: 'serving' } });
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(0);
  });
});
