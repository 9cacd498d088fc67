import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleDrivers } from '../../src/cli/sim/sim-example.ts';
import { sampleOf } from '../sample.ts';
import { followDoctor } from './follow-doctor.ts';
import { json } from './meshwright.ts';
import { driverPlace } from './pair.ts';

describe.each(sampleOf(exampleDrivers, { few: 1, oneIn: 2 }))('a suspended %s rank', (driver) => {
  const { place, run } = driverPlace(driver, 'rdma');

  it('is reported as the cause instead of a cable, and runs again after the suggested restart', async () => {
    expect((await run('apply', '--sim', '--yes', '--update-lock')).code).toBe(0);
    await run('sim', 'fault', 'rank-stopped', 'studio-4');
    expect((await run('ask', 'chat', 'Hello', '--sim', '--deadline', '5s')).code).not.toBe(0);
    const { troubles } = json(await run('doctor', '--sim', '--json')) as {
      readonly troubles: readonly { readonly code: string; readonly detail: string }[];
    };
    const about = troubles.filter(({ code }) => /^(?:mesh|rdma)\//.test(code));
    expect(about.map(({ code, detail }) => `${code} ${detail.replace(/\d+\)/, 'PID)')}`)).toEqual([
      'mesh/rank-suspended A signal has suspended rank 1 on studio-4 (process PID).',
    ]);
    expect((await run('status', '--sim')).stdout).toContain('A signal has suspended rank 1 on studio-4');
    expect(await followDoctor(place)).toEqual({ end: 'serving', typed: ['restart chat'] });
  });

  // exo removes a Mac that was silent for 30 s, with its instance; a quick recover comes before that.
  const cured = driver === 'exo' ? [['continue'], ['continue', 'instance']] : [['continue']];

  it(`serves again after recover, without a restart: ${cured.at(-1)?.join(', ')}`, async () => {
    await run('sim', 'fault', 'rank-stopped', 'studio-4');
    const log = ['--log', `${place.folder}/log.ndjson`, '--log-level', 'debug'];
    const { cures, placements } = json(await run('recover', '--sim', '--yes', '--json', ...log)) as {
      readonly cures: readonly { readonly rung: string; readonly done: boolean }[];
      readonly placements: unknown;
    };
    expect(cured).toContainEqual(cures.map(({ rung }) => rung));
    expect(cures.every(({ done }) => done)).toBe(true);
    expect(placements).toEqual({ chat: { state: 'serving' } });
    // A hung mesh takes the whole deadline of a token, so it is asked only once, by a second command to its leader.
    const events = readFileSync(`${place.folder}/log.ndjson`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const before = events.slice(
      0,
      events.findIndex(({ event }) => event === 'step-started'),
    );
    expect(before.filter(({ event, name }) => event === 'sent' && name === 'observe')).toHaveLength(3);
  });
});
