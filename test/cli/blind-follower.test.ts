import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultName, faultNames } from '../../src/sim/faults.ts';
import { faultCures } from '../contract/fault-cures.ts';
import { isWhole, sampleOf } from '../sample.ts';
import { pairFile } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { json, meshwright } from './meshwright.ts';
import { overRdma, placeWithPair } from './pair.ts';
import type { Place } from './place.ts';

/** Where the faults without a target of their own are set. */
const target = (fault: FaultName): string => {
  const cure = faultCures[fault];
  if (cure.kind !== 'verb') return cure.target;
  return fault === 'idle-dead-port' ? 'studio-1:4' : 'studio-4';
};

const mostSteps = 6;

/** Of these the sample is drawn: each of them was followed by hand to its end over RDMA. */
const tried = [
  'rdma-hang',
  'gid-missing',
  'cable-missing',
  'crash',
  'clock-skew',
] as const satisfies readonly FaultName[];

interface Troubles {
  readonly troubles: readonly { readonly severity: string; readonly commands: readonly string[] }[];
}
interface Placements {
  readonly placements: { readonly chat: { readonly state: string } };
}

describe.each(isWhole ? (['rdma', 'tcp'] as const) : (['rdma'] as const))(
  'the commands that doctor names first, over %s',
  (transport) => {
    let place: Place;
    const run = (...words: string[]) => meshwright(place, words);
    const state = async (): Promise<string> =>
      (json(await run('status', '--sim', '--json')) as Placements).placements.chat.state;

    beforeAll(async () => {
      place = await placeWithPair(pairFile(transport === 'rdma' ? overRdma : undefined));
      expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    });
    afterAll(() => endPlace(place));

    it.each(sampleOf<FaultName>(isWhole ? faultNames : tried, { few: 1, oneIn: tried.length }))(
      'lead from %s to a serving mesh or to a person',
      async (fault) => {
        expect((await run('sim', 'fault', fault, target(fault))).code).toBe(0);
        const typed: string[] = [];
        for (let step = 0; step <= mostSteps; step++) {
          const { troubles } = json(await run('doctor', '--sim', '--json')) as Troubles;
          const next = troubles.flatMap(({ commands }) => commands)[0];
          const isWell = !troubles.some(({ severity }) => severity === 'error') && (await state()) === 'serving';
          if (isWell) break;
          if (next === undefined) {
            expect(troubles, 'it does not serve, and nobody is named').not.toEqual([]);
            break;
          }
          expect(typed.at(-1), `typed in vain: ${next}`).not.toBe(next);
          expect(typed.length, typed.join('\n')).toBeLessThan(mostSteps);
          typed.push(next);
          const ran = await run(...next.split(' ').slice(1), '--yes');
          expect(ran.code, `${next} is refused: ${ran.stderr}`).not.toBe(64);
        }
        await run('sim', 'fault', '--clear');
        expect((await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code).not.toBe(64);
      },
    );
  },
);
