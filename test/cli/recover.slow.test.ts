import { beforeAll, describe, expect, it } from 'vitest';
import { exampleDrivers } from '../../src/cli/sim/sim-example.ts';
import { type Rung, rungs } from '../../src/engine/diagnose/next-cure.ts';
import type { RecoverDocument } from '../../src/model/documents.generated.ts';
import { faultNames } from '../../src/sim/faults/faults.ts';
import { isKeptOrFought, recordedEffect, usualTransport } from '../contract/fault-effects.ts';
import { sampleOf } from '../sample.ts';
import { endFaults, serve, setFaults } from './follow-doctor.ts';
import { json, meshwright } from './meshwright.ts';
import { driverPlace } from './pair.ts';

const cases = exampleDrivers.flatMap((driver) =>
  faultNames.flatMap((fault) => {
    const effect = recordedEffect(fault, driver);
    return effect === undefined ? [] : [{ driver, fault, ...effect }];
  }),
);

/** Only racks with a case here are booted. */
const tables = exampleDrivers.flatMap((driver) => {
  const own = sampleOf(cases, { few: 2, oneIn: 50 }).filter((one) => one.driver === driver);
  return own.length === 0 ? [] : [[driver, own] as const];
});

/** The highest rung that a command of the blind follower stands for: its `apply` also restarts what hangs. */
const highest = (typed: readonly string[]): Rung =>
  typed.some((one) => one.startsWith('reboot')) ? 'reboot' : typed.length > 0 ? 'restart' : 'wait';

describe.concurrent.each(tables)('recover, with %s', (driver, own) => {
  const { place, run } = driverPlace(driver, usualTransport(driver));

  async function recover() {
    const words = ['recover', 'chat', '--sim', '--yes', '--allow', 'reboot', '--json'];
    const ended = await meshwright(place, words, { longestMs: 250_000 });
    const { cures } = json(ended) as Pick<RecoverDocument, 'cures'>;
    return { code: ended.code, cures: cures.map(({ rung }) => rung) };
  }

  beforeAll(async () => {
    expect(await serve(run)).toBe(0);
  });

  it('cures nothing without a fault', async () => {
    expect(await recover()).toEqual({ code: 0, cures: [] });
  });

  it.sequential.for(own)(
    'brings tokens back after $fault, or names a manual step, without a higher rung than necessary',
    { timeout: 300_000 },
    async ({ fault, ask, status, typed, end }) => {
      try {
        expect(await setFaults(place, [fault])).toBe(true);
        const { code, cures } = await recover();
        const words = `${code} after ${cures.join(', ')}`;
        const isQuiet = ask === 'answer' && status === 'serving';
        // A stop before a person moves a cable is no cure, and the follower does not need it.
        const most = isQuiet ? -1 : rungs.indexOf(highest(typed));
        expect(
          cures.filter((rung) => rung !== 'stop' && rungs.indexOf(rung) > most),
          words,
        ).toEqual([]);
        expect(end === 'serving' || isQuiet ? [0] : [0, 3], words).toContain(code);
        // A fault that kept every token back leaves something to cure, or a rung would have worked without it.
        if (ask === 'no answer' && code === 0 && !isKeptOrFought(fault)) expect(cures, words).not.toEqual([]);
      } finally {
        await endFaults(run);
      }
    },
  );
});
