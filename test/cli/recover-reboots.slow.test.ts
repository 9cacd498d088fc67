import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { drawsBy } from '../property/mutations.ts';
import { sampleOf, sampleSeed } from '../sample.ts';
import { pairFile } from '../scenarios/converge-file.ts';
import { endFaults } from './follow-doctor.ts';
import { hook, quiet } from './kill/killed-command.ts';
import { ended, meshwright, start } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { effectsSince, repeatedRestarts } from './simulated-effects.ts';

const mac = 'studio-4';
const words = ['reboot', mac, '--sim', '--yes', '--lease-wait', '40s'];
/** The wait for a lease, and the longest reboot while its controller is stopped. */
const longestMs = 200_000;

/** Longer than a lease lasts without a heartbeat, so that another controller takes it over. */
const stoppedMs = 25_000;
/** About as long as a whole reboot. */
const rebootMs = 8_000;

const seeds = Array.from({ length: 20 }, (_, at) => (sampleSeed + at) >>> 0);
const drawn = sampleOf(seeds, { few: 1, oneIn: 20 });
const halves = [0, 1].map((half) => drawn.filter((_, at) => at % 2 === half)).filter(({ length }) => length > 0);

describe.concurrent.each(halves.map((own) => [own.length, own] as const))('reboot, in %i schedules', (_, own) => {
  const { place, run } = pairPlace(pairFile(), { isApplied: true });

  /** A controller that is killed after a number of moments, stopped for longer than its lease lasts, or left alone. */
  async function control(below: (most: number) => number): Promise<string> {
    const fate = below(4);
    const env = fate === 0 ? { NODE_OPTIONS: hook, MW_DIE_AFTER: String(1 + below(60)) } : {};
    const child = start(place, words, { env });
    const end = ended(child, words, longestMs);
    if (fate === 1) {
      await sleep(below(rebootMs));
      if (child.kill('SIGSTOP')) await sleep(stoppedMs);
      child.kill('SIGCONT');
    }
    const { code, signal } = await end;
    return `${fate === 1 ? 'stopped and continued, then ' : ''}${signal ?? `exit ${code}`}`;
  }

  /** For a while, each connection to the Mac is lost. */
  async function drop(below: (most: number) => number): Promise<void> {
    await sleep(below(rebootMs));
    await meshwright(place, ['sim', 'fault', 'connection-drop', mac]);
    await sleep(below(rebootMs));
    await meshwright(place, ['sim', 'fault', '--clear', 'connection-drop']);
  }

  it.sequential.for(own)(
    'restarts the Mac at most once for each command, and never twice in a boot session: %i',
    { timeout: 600_000 },
    async (seed) => {
      const below = drawsBy(seed);
      const startedAtMs = Date.now();
      const count = 2 + below(2);
      const drops = below(2) === 0 ? drop(below) : undefined;
      // They begin one after another, also while an earlier one still runs.
      const controllers: Promise<string>[] = [];
      for (let left = count; left > 0; left -= 1) {
        controllers.push(control(below));
        await sleep(below(rebootMs));
      }
      const ends = await Promise.all(controllers);
      await drops;
      await quiet(place);
      const effects = (await effectsSince(startedAtMs, place)).filter(({ node }) => node === mac);
      const boots = effects.filter(({ kind }) => kind === 'boot').length;
      expect([repeatedRestarts(effects), boots <= count], ends.join(', ')).toEqual([[], true]);
      if (ends.includes('exit 0')) expect(boots, ends.join(', ')).toBeGreaterThan(0);
      await endFaults(run);
    },
  );
});
