import { beforeAll, describe, expect, it } from 'vitest';
import { exampleDrivers } from '../../src/cli/sim/sim-example.ts';
import { type Rung, rungs } from '../../src/engine/diagnose/next-cure.ts';
import { faultNames } from '../../src/sim/faults/faults.ts';
import { recordedEffect, usualTransport } from '../contract/fault-effects.ts';
import { sampleOf } from '../sample.ts';
import { setFaults } from './follow-doctor.ts';
import { json } from './meshwright.ts';
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

interface Recovered {
  readonly cures: readonly { readonly rung: Rung }[];
}

/** The highest rung that a command of the blind follower stands for: its `apply` also restarts what hangs. */
const highest = (typed: readonly string[]): Rung =>
  typed.some((one) => one.startsWith('reboot')) ? 'reboot' : typed.length > 0 ? 'restart' : 'wait';

describe.concurrent.each(tables)('recover, with %s', (driver, own) => {
  const { place, run } = driverPlace(driver, usualTransport(driver));
  const serve = async () => (await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code;

  beforeAll(async () => {
    expect(await serve()).toBe(0);
  });

  it.sequential.for(own)(
    'brings tokens back after $fault, or names a manual step, without a higher rung than necessary',
    { timeout: 300_000 },
    async ({ fault, status, typed, end }) => {
      try {
        expect(await setFaults(place, [fault])).toBe(true);
        const ended = await run('recover', 'chat', '--sim', '--yes', '--allow', 'reboot', '--json');
        // A stop before a person moves a cable is no cure, and the follower does not need it.
        const cures = (json(ended) as Recovered).cures.map(({ rung }) => rung).filter((rung) => rung !== 'stop');
        const ways = cures.join(', ');
        const most = rungs.indexOf(highest(typed));
        expect(cures.every((rung) => rungs.indexOf(rung) <= most) ? `${ended.code} after ${ways}` : ways).toMatch(
          end === 'serving' || status === 'serving' ? /^0 / : /^[03] /,
        );
      } finally {
        await run('sim', 'fault', '--clear');
        if ((await serve()) !== 0) {
          // The next case must not inherit leftovers of a fault, such as memory that only a reboot frees.
          expect((await run('sim', 'up', '--fresh')).code).toBe(0);
          expect(await serve()).toBe(0);
        }
      }
    },
  );
});
