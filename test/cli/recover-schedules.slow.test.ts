import { beforeAll, describe, expect, it } from 'vitest';
import { exampleDrivers } from '../../src/cli/sim/sim-example.ts';
import type { RecoverDocument, ReportDocument } from '../../src/model/documents.generated.ts';
import { faultNames } from '../../src/sim/faults/faults.ts';
import { usualTransport } from '../contract/fault-effects.ts';
import { type Draw, drawsBy } from '../property/mutations.ts';
import { sampleOf, sampleSeed } from '../sample.ts';
import { disturbanceOf } from '../scenarios/converge-effects.ts';
import { endFaults, followDoctor, serve, setFaults } from './follow-doctor.ts';
import { json, meshwright, type Ran } from './meshwright.ts';
import { driverPlace } from './pair.ts';
import { effectsSince, repeatedRestarts } from './simulated-effects.ts';

const macs = ['studio-1', 'studio-4'];

const seeds = Array.from({ length: 60 }, (_, at) => (sampleSeed + at) >>> 0);
const drawn = sampleOf(seeds, { few: 1, oneIn: 30 });

/** Only racks with a schedule here are booted. */
const tables = exampleDrivers.flatMap((driver, at) => {
  const own = drawn.filter((seed) => seed % exampleDrivers.length === at);
  return own.length === 0 ? [] : [[driver, own] as const];
});

const verbs: readonly (readonly string[])[] = [
  ['apply', '--allow', 'interrupt'],
  ['recover', '--allow', 'reboot'],
  ['restart', 'chat'],
  ['reboot', 'studio-4'],
  ['reboot', 'chat'],
  ['stop', 'chat'],
  ['start', 'chat'],
  ['drain', 'chat'],
];

/** What a command announces: that it interrupts the placement, and the Macs that it restarts. */
interface Announced {
  readonly isInterrupting: boolean;
  readonly restarts: readonly string[];
}

/** By the words of the command, or by what it reports of its plan or of its cures. */
function announcedBy([verb = '', ...words]: readonly string[], ran: Ran): Announced {
  if (verb === 'reboot') return { isInterrupting: true, restarts: words.includes('chat') ? macs : words };
  if (verb === 'restart' || verb === 'stop') return { isInterrupting: true, restarts: [] };
  // Refused before anything was done.
  if (ran.stdout === '') return { isInterrupting: false, restarts: [] };
  if (verb === 'recover') {
    const { cures = [] } = json(ran) as Partial<RecoverDocument>;
    const isHard = (rung: string): boolean => rung === 'reboot' || rung === 'power-cycle';
    return {
      isInterrupting: cures.some(({ rung }) => isHard(rung) || /start|stop|continue/.test(rung)),
      restarts: cures.flatMap(({ rung, names }) => (isHard(rung) ? names : [])),
    };
  }
  const { steps = [] } = json(ran) as Partial<ReportDocument>;
  return { isInterrupting: steps.some(({ effect }) => effect === 'interrupt'), restarts: [] };
}

describe.concurrent.each(tables)('random faults and commands, with %s', (driver, own) => {
  const { place, run } = driverPlace(driver, usualTransport(driver), { isPublished: true });
  const answers = async () => (await run('ask', 'chat', 'Hello', '--sim', '--deadline', '5s')).code === 0;

  beforeAll(async () => {
    expect(await serve(run)).toBe(0);
  });

  /** Runs a command; returns what it did without having announced it. */
  async function unannounced(words: readonly string[]): Promise<readonly string[]> {
    const wasServing = await answers();
    const startedAtMs = Date.now();
    const ran = await meshwright(place, [...words, '--sim', '--yes', '--json'], { longestMs: 250_000 });
    expect([ran.signal, ran.code], ran.stderr).not.toContain(70);
    const { isInterrupting, restarts } = announcedBy(words, ran);
    const effects = await effectsSince(startedAtMs, place);
    const bad = effects.filter((effect) => {
      const kind = disturbanceOf(effect)?.kind;
      if (kind === 'reboot') return !restarts.includes(effect.node);
      if (kind === 'stop') return wasServing && !isInterrupting;
      return kind === 'shutdown' || kind === 'delete';
    });
    return [...bad.map((one) => JSON.stringify(one)), ...repeatedRestarts(effects)];
  }

  /** Sets one more fault, or clears all faults; the fleet refuses a fault that another one excludes. */
  async function changeFaults(below: Draw): Promise<string> {
    const fault = faultNames[below(faultNames.length)];
    if (fault !== undefined && below(5) > 0) return (await setFaults(place, [fault])) ? fault : `${fault} (refused)`;
    await run('sim', 'fault', '--clear');
    return 'faults cleared';
  }

  it.sequential.for(own)(
    'interrupt nothing that was not announced, and leave nothing that a person has to save instead of recover: %i',
    { timeout: 600_000 },
    async (seed) => {
      const below = drawsBy(seed);
      const done: string[] = [];
      try {
        for (let left = 2 + below(2); left > 0; left -= 1) {
          done.push(await changeFaults(below));
          const words = verbs[below(verbs.length)] ?? [];
          done.push(words.join(' '));
          expect(await unannounced(words), done.join(', then ')).toEqual([]);
        }
        await run('sim', 'fault', '--clear');
        await run('sim', 'hands');
        await run('sim', 'power-on', ...macs);
        done.push('everything repaired by hand', 'recover');
        expect(await unannounced(['recover', '--allow', 'reboot']), done.join(', then ')).toEqual([]);
        const isSaved = (await answers()) || (await followDoctor(place)).end !== 'serving';
        expect(isSaved, `${done.join(', then ')}: it does not serve, but doctor's commands bring it back`).toBe(true);
      } finally {
        await endFaults(run);
      }
    },
  );
});
