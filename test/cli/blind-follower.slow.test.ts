import { beforeAll, describe, expect, it } from 'vitest';
import { exampleDrivers } from '../../src/cli/sim/sim-example.ts';
import { type FaultName, faultNames } from '../../src/sim/faults/faults.ts';
import { type FaultEffect, isKept, recordEffect, recordedEffect, usualTransport } from '../contract/fault-effects.ts';
import { isWhole, sampleOf, sliceOf } from '../sample.ts';
import { endFaults, followDoctor, seenIn, serve, setFaults } from './follow-doctor.ts';
import { driverPlace } from './pair.ts';

const racks = exampleDrivers.flatMap((driver) =>
  (['rdma', 'tcp'] as const).map((transport) => ({ driver, transport })),
);

interface Case {
  readonly rack: (typeof racks)[number];
  readonly faults: readonly FaultName[];
}

const singles = racks.flatMap((rack) => faultNames.map((fault): Case => ({ rack, faults: [fault] })));
const pairs = racks.flatMap((rack) =>
  faultNames.flatMap((one, at) => faultNames.slice(at + 1).map((other): Case => ({ rack, faults: [one, other] }))),
);

/** `MESHWRIGHT_EFFECTS=write` records what each fault does to each driver's example, of which docs/faults.md is made. */
const isRecording = process.env['MESHWRIGHT_EFFECTS'] === 'write';
const isUsual = ({ driver, transport }: Case['rack']): boolean => transport === usualTransport(driver);
const cases = isRecording
  ? singles.filter(({ rack }) => isUsual(rack))
  : [...sampleOf(singles, { few: 1, oneIn: 120 }), ...(isWhole ? sliceOf(pairs, 223) : [])];

/** Without the consent for which `apply` asks only while the placement hangs: on a slow machine, a rank exits before. */
const steady = (effect: FaultEffect): FaultEffect => ({
  ...effect,
  typed: effect.typed.map((command) => command.replace(' --allow interrupt', '')),
});

/** Only racks with a case here are booted. */
const tables = racks.flatMap((rack) => {
  const own = cases.filter((one) => one.rack === rack).map(({ faults }) => [faults.join(' and '), faults] as const);
  return own.length === 0 ? [] : [[rack.driver, rack.transport, own] as const];
});

describe.concurrent.each(tables)(
  'the first commands that doctor suggests, with %s over %s',
  (driver, transport, own) => {
    const { place, run } = driverPlace(driver, transport);

    beforeAll(async () => {
      expect(await serve(run)).toBe(0);
    });

    it.sequential.for(own)(
      'lead from %s to a serving mesh or to a manual step',
      { timeout: 300_000 },
      async ([, faults], { skip }) => {
        try {
          const isSet = await setFaults(place, faults);
          // Two faults of one thing cannot be set at the same time.
          skip(!isSet && faults.length > 1, 'the fleet refuses the second fault');
          expect(isSet).toBe(true);
          const [fault, other] = faults;
          if (fault === undefined || other !== undefined || !isUsual({ driver, transport })) {
            await followDoctor(place);
            return;
          }
          const effect = { ...(await seenIn(place)), ...(await followDoctor(place)) };
          const row = recordedEffect(fault, driver);
          if (isKept(fault, effect, row)) return;
          if (isRecording) recordEffect(fault, driver, effect);
          else expect(steady(effect)).toEqual(row && steady(row));
        } finally {
          await endFaults(run);
        }
      },
    );
  },
);
