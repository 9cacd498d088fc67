import { describe, expect, it } from 'vitest';
import { eventually } from '../rack/running.ts';
import { pairFile } from '../scenarios/converge-file.ts';
import { keepersAtRest } from './keepers.ts';
import { expectGolden, json } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const { place, run } = pairPlace(pairFile(), { isApplied: true });

const findings = async (): Promise<readonly string[]> => {
  const found = json(await run('doctor', '--sim', '--json')) as {
    readonly troubles: readonly { readonly code: string; readonly subject: string }[];
  };
  return found.troubles.map(({ code, subject }) => `${code} ${subject}`);
};

/** Applies, and checks that the placement answers again. */
async function expectWhole(): Promise<void> {
  const ran = await run('apply', '--sim', '--yes');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect((await run('ask', 'chat', 'Hello', '--sim')).code).toBe(0);
}

describe('a Mac that panics', () => {
  it('restarts on its own; status shows its stopped rank, and apply makes it serve again', async () => {
    await run('sim', 'fault', 'crash', 'studio-4');
    await keepersAtRest(place);
    const seen = await run('status', '--sim');
    await expectGolden('status-after-crash', place, [seen]);
    expect(await findings()).toEqual(['mesh/not-serving placement chat', 'macos/panicked node studio-4']);
    await expectWhole();
    expect(await findings()).toEqual(['macos/panicked node studio-4']);
  });

  it('is reported as a suspected TCP panic if traffic over TCP caused it', async () => {
    await run('sim', 'fault', 'tcp-load-panic', 'studio-4');
    expect((await run('ask', 'chat', 'Hello', '--sim')).code).not.toBe(0);
    const suspicion = 'network/suspected-tcp-panic node studio-4';
    expect(await eventually(async () => (await findings()).includes(suspicion))).toBe(true);
    const told = (await run('doctor', '--sim')).stdout.replaceAll(/\s+/g, ' ');
    expect(told).toContain('Do not start it yet: it sends TCP over cables, and studio-4 may panic again.');
    expect(told).not.toContain('meshwright restart');
    await run('sim', 'fault', '--clear', 'tcp-load-panic');
    await expectWhole();
  });
});

describe('a Mac without power', () => {
  it('is unreachable, ignores its power button, and comes back when power returns', async () => {
    await run('sim', 'fault', 'power-cut', 'studio-1');
    expect(await findings()).toContain('ssh/refused node studio-1');
    const pressed = await run('sim', 'power-on', 'studio-1');
    await expectGolden('power-on-without-current', place, [pressed]);
    await run('sim', 'fault', '--clear', 'power-cut');
    await expectWhole();
  });

  it('stays off without autorestart until its power button is pressed', async () => {
    const set = await run('exec', '--sim', 'studio-1', '--', 'sudo', '-n', 'pmset', '-a', 'autorestart', '0');
    expect([set.code, set.stderr]).toEqual([0, '']);
    await run('sim', 'fault', 'power-cut', 'studio-1');
    await run('sim', 'fault', '--clear', 'power-cut');
    expect(await findings()).toContain('ssh/refused node studio-1');
    expect((await run('sim', 'power-on', 'studio-1')).code).toBe(0);
    await expectWhole();
  });
});
