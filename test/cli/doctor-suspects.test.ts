import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { expectGolden, json, meshwright } from './meshwright.ts';
import { overRdma, placeWithPair } from './pair.ts';
import type { Place } from './place.ts';

let place: Place;
const run = (...words: string[]) => meshwright(place, words);

beforeAll(async () => {
  place = await placeWithPair(pairFile(overRdma));
  const ran = await run('apply', '--sim', '--yes');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout).toContain('Starts over RDMA since boot: 0 of 10 on studio-1, 0 of 10 on studio-4\n');
});
afterAll(() => endPlace(place));

interface DoctorDocument {
  readonly troubles: readonly {
    readonly code: string;
    readonly subject: string;
    readonly hanging: readonly string[];
  }[];
  readonly launches: Readonly<Record<string, { readonly starts: number; readonly limit: number }>>;
}

const doctor = async (): Promise<DoctorDocument> => json(await run('doctor', '--sim', '--json')) as DoctorDocument;
const suspects = async (): Promise<readonly string[]> =>
  (await doctor()).troubles.map(({ code, subject, hanging }) => [code, subject, ...hanging].join(' | '));

describe('what only traffic can show', () => {
  it('is not suspected while the placement serves, and its starts are counted', async () => {
    const { troubles, launches } = await doctor();
    expect(troubles).toEqual([]);
    expect(launches).toEqual({
      'studio-1': { starts: 1, limit: 10, assumed: false },
      'studio-4': { starts: 1, limit: 10, assumed: false },
    });
    expect((await run('status', '--sim')).stdout).toContain(
      '  Starts over RDMA since boot: 1 of 10 on studio-1, 1 of 10 on studio-4\n',
    );
  });

  it('is a port that idled for too long when a token fails, and stays so when a start does', async () => {
    await run('sim', 'fault', 'idle-dead-port', 'studio-1:4');
    const hung = await run('doctor', '--sim');
    expect(hung.code).toBe(1);
    await expectGolden('doctor-idle-dead', place, [hung]);
    expect((await run('restart', 'chat', '--sim', '--yes')).code).not.toBe(0);
    expect(await suspects()).toEqual(['rdma/suspected-idle-dead | link studio-1:4 <-> studio-4:2 | placement chat']);
  });

  it('is over when both Macs have restarted', async () => {
    expect((await run('reboot', 'studio-1', 'studio-4', '--sim', '--yes')).code).toBe(0);
    const ran = await run('apply', '--sim', '--yes');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    const { troubles, launches } = await doctor();
    expect([troubles, launches['studio-1']?.starts]).toEqual([[], 1]);
  });

  it('is a Mac without a protection domain when a start says so, until it has restarted', async () => {
    await run('sim', 'fault', 'pd-leak', 'studio-4');
    expect(await suspects()).toEqual([]);
    expect((await run('restart', 'chat', '--sim', '--yes')).code).not.toBe(0);
    const failed = await run('doctor', '--sim');
    expect(failed.code).toBe(1);
    await expectGolden('doctor-exhausted', place, [failed]);
    expect((await run('reboot', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    expect(await suspects()).toEqual([]);
  });
});
