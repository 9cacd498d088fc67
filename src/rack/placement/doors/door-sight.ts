import type { Facts } from '../../../model/facts/fact-values.ts';
import type { DoorSight } from '../../../model/gateway.ts';
import { type Known, known, unknown } from '../../../model/known.ts';
import { read } from '../../fact.ts';
import { doormenFact } from '../../records/gateways-fact.ts';

/**
 * What the doorman at a port of a node says of a placement, or another one there while the endpoint moves: unknown when
 * a doorman did not answer, since that placement may be behind it; undefined when every doorman answered and none has it.
 */
export function doorSight(facts: Facts, placement: string, port: number): Known<DoorSight> | undefined {
  const doormen = read(facts, doormenFact);
  if (doormen.kind === 'unknown') return doormen;
  const own = doormen.value.filter((one) => one.port === port);
  const others = doormen.value.filter((one) => one.port !== port);
  for (const some of [own, others]) {
    const doors = some.flatMap((one) => (one.kind === 'answered' ? one.doors : []));
    const found = doors.find((door) => door.placement === placement);
    if (found !== undefined) return known(found);
    const silent = some.find((one) => one.kind === 'silent');
    if (silent !== undefined)
      return unknown('failed', `the doorman at port ${silent.port} did not say: ${silent.reason}`);
  }
  return undefined;
}

/** Every door of a placement on a node: where its endpoint moves, the old one stands beside the new one for a while. */
export interface DoorsHeard {
  readonly doors: readonly DoorSight[];
  /** Whether every doorman of the node answered. */
  readonly isWhole: boolean;
}

/** What the doormen of a node say of a placement; without doors where nobody could ask them. */
export const doorsHeard = (facts: Facts, placement: string): DoorsHeard => {
  const doormen = read(facts, doormenFact);
  const all = doormen.kind === 'known' ? doormen.value : [];
  const doors = all.flatMap((one) => (one.kind === 'answered' ? one.doors : []));
  return {
    doors: doors.filter((door) => door.placement === placement),
    isWhole: doormen.kind === 'known' && all.every(({ kind }) => kind === 'answered'),
  };
};
