import { unknown } from '../../model/known.ts';
import { oncePer } from '../../model/lists.ts';
import { isClosed } from '../placement/doors/door-sights.ts';
import { doorAddress } from '../placement/doors/doors.ts';
import type { WantedDoorman } from '../placement/doors/gateways.ts';
import { doorsOf } from '../placement/placement-steps.ts';
import { everyCase, type PlacementCase } from '../placement/state/placement-cases.ts';
import type { ObservedTarget, Property, View } from '../resource.ts';
import { knownWords, mapKnown } from '../seen-fact.ts';

/** What keeps the doors of a placement from being opened apart from its mesh. */
type Awaited =
  /** The start of the placement opens these, behind its token. */
  | { readonly kind: 'start'; readonly doors: readonly string[] }
  /** Nobody knows whether anything serves behind them. */
  | { readonly kind: 'unknown' };

const doorKey = (node: string, port: number): string => `${node} ${port}`;

const startOf = (one: PlacementCase): Awaited => ({
  kind: 'start',
  doors: doorsOf(one).map(({ leader, port }) => doorKey(leader, port)),
});

/** One that goes on on its fallback is judged there; one that is moved back has its doors opened by that move. */
function awaitedOf({ elsewhere, ...own }: PlacementCase, { staying }: View): Awaited | undefined {
  const { name } = own.placement;
  if (elsewhere !== undefined && !staying.includes(name)) return startOf(own);
  const one = elsewhere ?? own;
  if (one.mesh.state === 'serving') return undefined;
  return one.mesh.state === 'unknown' ? { kind: 'unknown' } : startOf(one);
}

const allAwaited = oncePer((view: View): ReadonlyMap<string, Awaited> => {
  // A run limited to some nodes leaves a placement alone that it cannot judge, but its closed door all the same is not opened.
  const wanted = everyCase(view).filter(({ placement }) => placement.state === 'serving');
  return new Map(
    wanted.flatMap((one) => {
      const awaited = awaitedOf(one, view);
      return awaited === undefined ? [] : [[one.placement.name, awaited]];
    }),
  );
});

/** Whether each door of a doorman is open or closed, but for those that a start of their placement opens. */
export function doorProperties(
  view: View,
  { port, placements }: WantedDoorman,
  target: ObservedTarget,
): readonly Property[] {
  const awaited = allAwaited(view);
  return placements.flatMap((placement) => {
    const kept = awaited.get(placement.name);
    if (kept?.kind === 'start' && kept.doors.includes(doorKey(target.desired.name, port))) return [];
    const property = doorProperty(port, placement, target);
    return [kept?.kind === 'unknown' ? unlessClosed(property, placement.name) : property];
  });
}

function doorProperty(
  port: number,
  { name, state }: WantedDoorman['placements'][number],
  target: ObservedTarget,
): Property {
  const observed = mapKnown(isClosed(target, port, name), (closed) => (closed ? 'closed' : 'open'));
  const to = state === 'stopped' ? 'closed' : 'open';
  return {
    node: target.desired.name,
    ...doorAddress(port, name),
    desired: to,
    observed,
    from: knownWords(observed, (value) => value),
    to,
    reason: `placements.${name}.state: ${state}`,
    after: ['identity', 'sudo'],
  };
}

/** A closed door waits where nothing may be behind it. */
function unlessClosed(property: Property, placement: string): Property {
  const { observed } = property;
  if (observed.kind === 'unknown' || observed.value === 'open') return property;
  const why = `it is closed, and nobody could tell whether ${placement} serves`;
  return { ...property, observed: unknown('failed', why), why };
}
