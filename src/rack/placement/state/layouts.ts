import { layoutsOf, withFallbacks } from '../../../desired/layouts.ts';
import { configurePlacement } from '../../../drivers/configure-placement.ts';
import { lastingNames } from '../../../drivers/contract/driver.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import { rankPlacement } from '../../../model/facts/daemons.ts';
import type { NodeObservation, RecordedRank } from '../../../model/facts/fact-values.ts';
import type { Known } from '../../../model/known.ts';
import { groupBy } from '../../../model/lists.ts';
import type { NodeName } from '../../../model/node.ts';
import type { FleetObservation } from '../../examination.ts';
import { read } from '../../fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import { isRunning, type SeenRank, seeRank } from '../mesh/rank-states.ts';
import { isLate } from '../mesh/read-mesh.ts';
import { placementsFact } from '../observed/fact.ts';

type Observed = Readonly<Record<string, NodeObservation>>;

interface Started {
  readonly node: NodeName;
  readonly seen: SeenRank;
  readonly record: RecordedRank;
}

function startedRanks({ name }: DesiredPlacement, observed: Observed): readonly Started[] {
  return Object.values(observed).flatMap(({ node, facts }): readonly Started[] => {
    const { seen } = seeRank(node, name, facts);
    if (seen.kind === 'unknown' || seen.value.record === undefined) return [];
    return [{ node, seen: seen.value, record: seen.value.record }];
  });
}

/** One layout of a placement, and the digest that its ranks have under the current file. */
interface Layout {
  readonly placement: DesiredPlacement;
  readonly digest: string | undefined;
}

/** True if a rank's number and mesh size fit a layout; the file may have changed since its start. */
const isPlacedBy = ({ nodes }: DesiredPlacement, { node, record }: Started): boolean =>
  record.size === nodes.length && nodes[record.rank] === node;

/** A placement's ranks by the layout of their start: its own nodes (`here`) or its fallback (`there`). */
interface Sides {
  readonly own: DesiredPlacement;
  readonly other: DesiredPlacement;
  readonly here: readonly Started[];
  readonly there: readonly Started[];
}

/**
 * True if the ranks of one start were started as the fallback. A digest of the file decides; if the file has changed
 * since, ranks that fit only one layout decide. Ambiguous ranks count as the placement's own.
 */
function isOfOther(start: readonly Started[], own: Layout, other: Layout): boolean {
  const has = ({ digest }: Layout): boolean => start.some(({ record }) => record.digest === digest);
  if (has(other) || has(own)) return has(other);
  const isOnlyIn = (one: Layout, another: Layout): boolean =>
    start.some((rank) => isPlacedBy(one.placement, rank) && !isPlacedBy(another.placement, rank));
  return isOnlyIn(other, own) && !isOnlyIn(own, other);
}

/** Ranks of one start share a digest; the two layouts may have used the same generation. */
const startOf = ({ record: { digest, generation } }: Started): string => `${digest} ${generation}`;

function sidesOf(placement: DesiredPlacement, fleet: DesiredFleet, started: readonly Started[]): Sides | undefined {
  const [own, other] = layoutsOf(placement).map((one) => ({
    placement: one,
    digest: configurePlacement(one, fleet, 0, lastingNames).digest,
  }));
  if (own === undefined || other === undefined) return undefined;
  const starts = [...groupBy(started, startOf)].map(([, start]) => start);
  const there = starts.filter((start) => isOfOther(start, own, other)).flat();
  const here = started.filter((one) => !there.includes(one));
  return { own: own.placement, other: other.placement, here, there };
}

const running = ({ here, there, ...layouts }: Sides): Sides => ({
  ...layouts,
  here: here.filter(({ seen }) => isRunning(seen)),
  there: there.filter(({ seen }) => isRunning(seen)),
});

/** The certainty that a layout answers: 2 if it returned a token, 1 if it may be too busy for one, otherwise 0. */
function answering({ nodes }: DesiredPlacement, started: readonly Started[]): number {
  const running = started.filter(({ seen }) => isRunning(seen));
  if (running.some(({ record }) => record.token.kind === 'answered')) return 2;
  return running.length === nodes.length && running.some(({ record }) => isLate(record.token)) ? 1 : 0;
}

const newest = (started: readonly Started[]): number => Math.max(0, ...started.map(({ record }) => record.generation));

/**
 * True if these ranks are the fallback and not the placement itself. The layout that answers wins. Generations come
 * second, because a start that did not see the other layout's nodes may have counted the same or less.
 */
function areOfFallback({ own, other, here, there }: Sides): boolean {
  if (there.length === 0) return false;
  if (here.length === 0) return true;
  const byAnswer = answering(other, there) - answering(own, here);
  if (byAnswer !== 0) return byAnswer > 0;
  const byGeneration = newest(there) - newest(here);
  return byGeneration === 0 ? here.length < own.nodes.length : byGeneration > 0;
}

/** All ranks of a placement with a fallback: an exited rank may show which layout the running ranks belong to. */
const allSides = (placement: DesiredPlacement, fleet: DesiredFleet, observed: Observed): Sides | undefined =>
  placement.fallback === undefined ? undefined : sidesOf(placement, fleet, startedRanks(placement, observed));

export function runsOnFallback(placement: DesiredPlacement, fleet: DesiredFleet, observed: Observed): boolean {
  const all = allSides(placement, fleet, observed);
  return all !== undefined && areOfFallback(running(all));
}

/** The nodes on which ranks of the placement's own layout run, in rank order; none if it runs on its fallback. */
export function ownRanksOn(placement: DesiredPlacement, fleet: DesiredFleet, observed: Observed): readonly NodeName[] {
  const all = allSides(placement, fleet, observed);
  if (all === undefined) return [];
  const sides = running(all);
  if (areOfFallback(sides)) return [];
  return sides.own.nodes.filter((node) => sides.here.some((one) => one.node === node));
}

/** True if a placement runs on its fallback or, if it does not run, last ran there. */
function wasOnFallback(placement: DesiredPlacement, fleet: DesiredFleet, observed: Observed): boolean {
  const all = allSides(placement, fleet, observed);
  if (all === undefined) return false;
  const sides = running(all);
  return areOfFallback(sides.here.length + sides.there.length > 0 ? sides : all);
}

/**
 * The reason why it is unknown whether a placement runs on its fallback: none of the fallback's nodes was observed. One
 * observed node is enough, because a mesh has all its ranks or does not run. The placement's own ranks are enough if
 * all were started and none was stopped, because a start on the fallback stops and removes them.
 */
export function fallbackUnseen(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  observed: Observed,
): Extract<Known<unknown>, { kind: 'unknown' }> | undefined {
  const nodes = placement.fallback?.nodes ?? [];
  const seen = nodes.map((node) => seeRank(node, placement.name, observed[node]?.facts).seen);
  const [first] = seen;
  if (first?.kind !== 'unknown' || seen.some(({ kind }) => kind === 'known')) return undefined;
  const here = sidesOf(placement, fleet, startedRanks(placement, observed))?.here ?? [];
  const isWhole = placement.nodes.every((node) => here.some((one) => one.node === node));
  const isOfOneStart = new Set(here.map(({ record }) => record.generation)).size === 1;
  const wasEnded = here.every(({ seen }) => !isRunning(seen) && seen.state !== 'exited');
  if (isWhole && isOfOneStart && !wasEnded) return undefined;
  return { ...first, detail: `its fallback may run on ${nodes.join(', ')}: ${first.detail}` };
}

export const whereTheyRun = (fleet: DesiredFleet, observed: Observed): DesiredFleet =>
  withFallbacks(fleet, (one) => runsOnFallback(one, fleet, observed));

/** The same fleet, but a placement that does not run is placed where it last ran. */
export const whereTheyRanLast = (fleet: DesiredFleet, observed: Observed): DesiredFleet =>
  withFallbacks(fleet, (one) => wasOnFallback(one, fleet, observed));

/** The nodes that were queried but whose running ranks could not be observed. */
export const awayNodes = (
  nodes: readonly NodeName[],
  { nodes: seen, failures }: FleetObservation,
): readonly NodeName[] =>
  nodes.filter((node) => {
    const facts = seen[node]?.facts;
    const placements = read(facts, placementsFact);
    const services = read(facts, servicesFact);
    const isUnknown =
      placements?.kind === 'unknown' ||
      services?.kind === 'unknown' ||
      services?.value.some((service) => service.state === 'unknown' && rankPlacement(service) !== undefined) === true;
    return isUnknown || (facts === undefined && (failures[node]?.length ?? 0) > 0);
  });

/** True if the running ranks were observed on every one of these nodes. */
export const areSeen = (nodes: readonly NodeName[], observation: FleetObservation): boolean =>
  nodes.every((node) => Object.hasOwn(observation.nodes, node)) && awayNodes(nodes, observation).length === 0;
