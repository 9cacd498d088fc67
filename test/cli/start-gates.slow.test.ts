import { describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { json } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const { run } = pairPlace(pairFile(), { isApplied: true });

const findings = async (): Promise<readonly string[]> => {
  const { troubles } = json(await run('doctor', '--sim', '--json')) as {
    readonly troubles: readonly { readonly code: string; readonly subject: string }[];
  };
  return troubles.map(({ code, subject }) => `${code} ${subject}`);
};

describe('a Mac with more than 8 GB of swap in use', () => {
  it('is reported with the amount of swap in use, and keeps serving', async () => {
    expect((await run('sim', 'fault', 'swap-full', 'studio-4')).code).toBe(0);
    expect(await findings()).toEqual(['memory/swap-in-use node studio-4']);
    expect((await run('doctor', '--sim')).stdout).toContain('12 GB of swap is in use');
    expect((await run('plan', '--sim')).code).toBe(0);
  });

  it('refuses to restart a placement before anything is stopped', async () => {
    const ran = await run('restart', 'chat', '--sim', '--yes');
    expect([ran.code, ran.stdout + ran.stderr]).toEqual([3, expect.stringContaining('12 GB of swap is in use')]);
    expect(ran.stdout + ran.stderr).toContain('meshwright reboot studio-4');
    expect((await run('ask', 'chat', 'Hello', '--sim')).code).toBe(0);
  });

  it('refuses to start a placement', async () => {
    expect((await run('stop', 'chat', '--sim', '--yes')).code).toBe(0);
    const ran = await run('start', 'chat', '--sim', '--yes');
    expect([ran.code, ran.stdout + ran.stderr]).toEqual([3, expect.stringContaining('12 GB of swap is in use')]);
  });

  it('can start the placement again after a reboot', async () => {
    expect((await run('reboot', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect((await run('start', 'chat', '--sim', '--yes')).code).toBe(0);
    expect(await findings()).toEqual([]);
  });
});

/** The number of starts of the rank on studio-4 in this boot session. */
const starts = async (): Promise<number> =>
  Number(/(\d+) starts?,/.exec((await run('facts', 'studio-4', '--fact', 'placements', '--sim')).stdout)?.[1]);

describe('a Mac that kills each rank right after it starts and keeps its memory wired', () => {
  it('does not start a rank again in the same boot session', async () => {
    expect((await run('stop', 'chat', '--sim', '--yes')).code).toBe(0);
    const before = await starts();
    expect((await run('sim', 'fault', 'restart-storm', 'studio-4')).code).toBe(0);
    expect((await run('start', 'chat', '--sim', '--yes')).code).not.toBe(0);
    expect(await findings()).toContain('mesh/reboot-mark node studio-4');
    for (const verb of ['start', 'restart']) {
      const ran = await run(verb, 'chat', '--sim', '--yes');
      expect([ran.code, ran.stdout + ran.stderr]).toEqual([3, expect.stringContaining('GiB of memory remained wired')]);
    }
    expect(await starts()).toBe(before + 1);
  });

  it('starts the rank again after a reboot', async () => {
    expect((await run('reboot', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect((await run('start', 'chat', '--sim', '--yes')).code).toBe(0);
    expect(await findings()).toEqual([]);
  });
});
