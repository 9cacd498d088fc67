import { beforeAll, describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { expectGolden, json } from './meshwright.ts';
import { overRdma, pairPlace } from './pair.ts';

const { place, run } = pairPlace(pairFile(overRdma), { isApplied: true });
beforeAll(async () => {
  expect((await run('sim', 'fault', 'pd-leak', 'studio-4')).code).toBe(0);
});

const placements = async (): Promise<unknown> =>
  (json(await run('status', '--sim', '--json')) as { placements: unknown }).placements;

describe('a placement on a Mac whose RDMA devices are full', () => {
  it('keeps serving, since neither restart nor a reboot of the other Mac stops anything', async () => {
    const rans = [await run('restart', 'chat', '--sim', '--yes'), await run('reboot', 'studio-1', '--sim', '--yes')];
    await expectGolden('restart-refused', place, rans);
    expect(await placements()).toMatchObject({ chat: { state: 'serving', generation: 1 } });
  });

  it('serves again after a reboot of both Macs', async () => {
    expect((await run('reboot', 'studio-1', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect(await placements()).toMatchObject({ chat: { state: 'serving' } });
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(0);
  });
});
