import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { nodesOf } from './nodes-of.ts';
import type { Held, Sifted } from './sift.ts';

type Ready = Sifted['ready'][number];

/** The Macs of a restart, as they were asked for and as they were seen. */
export interface RestartedMacs {
  readonly asked: readonly NodeName[];
  readonly seen: readonly NodeName[];
  readonly desired: DesiredFleet;
}

/**
 * The same without the stops that no restart would follow: a Mac that was not reached, or that has to wait, is not
 * restarted, and what runs beside it on other Macs stays as it is.
 */
export function withoutVainStops({ ready, held }: Sifted, { asked, seen, desired }: RestartedMacs): Sifted {
  const going = ready.filter(({ kind }) => kind === 'boot-session').map(({ property }) => property.node);
  const membersOf = ({ property }: Ready): readonly NodeName[] => {
    const placement = desired.placements.find(({ name }) => name === property.about.placement);
    return [...nodesOf(property), ...(placement?.nodes ?? [])];
  };
  const isVain = (one: Ready): boolean =>
    one.kind === 'placement' && !membersOf(one).some((node) => going.includes(node));
  const heldFor = (one: Ready): Held => {
    const waiting = asked.filter((node) => membersOf(one).includes(node));
    const reasons = waiting.map((node) => ({
      text: `${node} cannot be restarted now`,
      isUnknown: !seen.includes(node),
    }));
    return { ...one, reasons };
  };
  return {
    ready: ready.filter((one) => !isVain(one)),
    held: [...held, ...ready.filter(isVain).map(heldFor)],
  };
}
