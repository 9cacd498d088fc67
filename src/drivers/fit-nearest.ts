import { tensorProblems } from '../desired/tensor-limits.ts';
import type { DesiredFleet, DriverName } from '../model/desired.ts';
import type { FitFleet, FitPlacement, FitVerdict, MemoryBudget, NodeFit } from '../model/fit.ts';
import { given } from '../model/given.ts';
import { groupBy } from '../model/lists.ts';
import { everyNodeText, type NodeName } from '../model/node.ts';
import { bytesText, gibibyte, tokensText } from '../model/text/units.ts';
import { linksBetween } from './contract/addresses.ts';
import { fitPlacements, isWorse, roomOf, type SeenMemories, shapeOf, worstVerdict } from './fit-placements.ts';

/**
 * Describes in one sentence how to change a placement so that it fits.
 *
 * @param where the Macs that were searched
 */
export function nearestText(
  nearest: NearestFit | undefined,
  driver: DriverName | undefined,
  where = 'the nodes of this file',
): string {
  switch (nearest?.kind) {
    case undefined:
      return `No context, split or choice of nodes makes the model fit on ${where}.`;
    case 'context':
      return `The model fits with context: ${tokensText(nearest.contextTokens)}.`;
    case 'nodes':
      return `The model fits on nodes: [${nearest.nodes.join(', ')}].`;
    case 'shares':
      return sharesText(nearest.shares, driver);
  }
}

function sharesText(shares: readonly number[], driver: DriverName | undefined): string {
  const start = 'The model fits with its layers divided by memory';
  if (driver === 'llamacpp-rpc') return `${start} (sharding: pipeline, shares: [${shares.join(', ')}]).`;
  if (driver === 'exo') return `${start}, as exo does with sharding: pipeline.`;
  return `${start} (${shares.join(' : ')}), which only the drivers exo and llamacpp-rpc support.`;
}

/** The source of a GPU limit, if the file does not set the limit. */
const sources: Readonly<Record<MemoryBudget['kind'], string>> = {
  desired: '',
  seen: ' (limit set on the node)',
  reported: ' (reported by its runtime)',
  assumed: ' (usual for its memory size)',
};

/** `309.2 GB of the 498.2 GB that its GPU may use`, with the share of each placement if there are several. */
function needText({ needBytes, budget, memoryBytes, shares }: NodeFit, verdict: FitVerdict): string {
  const parts = shares.map(({ placement, need }) => `${placement} ${bytesText(need.total)}`);
  const made = parts.length > 1 ? ` (${parts.join(', ')})` : '';
  const isOfMemory = verdict === 'degraded' || verdict === 'near-degraded';
  const whole = isOfMemory ? memoryBytes : budget?.bytes;
  if (whole === undefined) return `${bytesText(needBytes)}${made}`;
  return isOfMemory
    ? `${bytesText(needBytes)}${made} of ${bytesText(whole)}, ${Math.round((100 * needBytes) / whole)} %`
    : `${bytesText(needBytes)}${made} of the ${bytesText(whole)} that its GPU may use${budget === undefined ? '' : sources[budget.kind]}`;
}

/** `studio-1..4 each need 517.1 GB of …`: nodes with the same text are grouped. */
export function needSentence(fits: readonly NodeFit[], verdict: FitVerdict): string {
  const texts = [...groupBy(fits, (fit) => needText(fit, verdict))].map(
    ([text, same]) =>
      `${everyNodeText(same.map(({ node }) => node))} ${same.length === 1 ? 'needs' : 'each need'} ${text}`,
  );
  return `${texts.join('; ')}.`;
}

/** A changed placement that fits. */
export type NearestFit =
  /** Layers in proportion to memory. The placement's own driver may not support shares. */
  | { readonly kind: 'shares'; readonly shares: readonly number[] }
  | { readonly kind: 'context'; readonly contextTokens: number }
  | { readonly kind: 'nodes'; readonly nodes: readonly NodeName[] };

export interface NearestSearch {
  readonly fleet: FitFleet;
  /** Cables that decide which nodes can form a group; absent: any nodes can. */
  readonly links?: DesiredFleet['thunderbolt']['links'];
  readonly seen: SeenMemories;
}

/**
 * The smallest change that makes a placement fit. In order: layers in proportion to memory, a smaller context, other or
 * more nodes. Undefined if no change helps. For a placement that fits but is slow, only the first change is tried.
 */
export function nearestFit(placement: FitPlacement, search: NearestSearch): NearestFit | undefined {
  const now = worstVerdict(placement, fitPlacements(search.fleet, search.seen));
  if (now === undefined || now === 'fits' || shapeOf(placement, search.fleet) === undefined) return undefined;
  const isRefused = isWorse(now, 'degraded');
  const limit: FitVerdict = isRefused ? 'degraded' : 'fits';
  const fits = (changed: FitPlacement): boolean => {
    const verdict = worstVerdict(changed, fitWith(changed, search));
    return verdict !== undefined && !isWorse(verdict, limit);
  };
  // A rank with a role has the whole model, on the node that the file names.
  const isFree = placement.roles === undefined;
  const shares = isFree ? proportions(placement, search) : undefined;
  const divided = { ...placement, runtime: byMemory.name, sharding: 'pipeline' } as const;
  if (shares !== undefined && fits({ ...divided, shares })) return { kind: 'shares', shares };
  if (!isRefused) return undefined;
  const contextTokens = contexts(placement).find((tokens) => fits({ ...placement, contextTokens: tokens }));
  if (contextTokens !== undefined) return { kind: 'context', contextTokens };
  const nodes = isFree ? otherNodes(placement, search).find((chosen) => fits(withNodes(placement, chosen))) : undefined;
  return nodes === undefined ? undefined : { kind: 'nodes', nodes };
}

/**
 * Represents all drivers that divide layers by memory: if llama.cpp's division fits, exo's does too. A runtime name in a
 * file never contains a space.
 */
const byMemory = { name: 'any llamacpp-rpc', driver: 'llamacpp-rpc' } as const;

/** Memory use of the fleet with one changed placement, which may use {@link byMemory}. */
function fitWith(changed: FitPlacement, { fleet, seen }: NearestSearch): readonly NodeFit[] {
  const placements = fleet.placements.map((one) => (one.name === changed.name ? changed : one));
  return fitPlacements({ ...fleet, runtimes: [...fleet.runtimes, byMemory], placements }, seen);
}

const mostShare = 64;

/** The memory sizes of a placement's nodes as small integers; undefined if they are equal or unknown. */
function proportions(placement: FitPlacement, { fleet, seen }: NearestSearch): readonly number[] | undefined {
  const sizes = placement.nodes.map((node) => Math.round((roomOf(fleet, node, seen).memoryBytes ?? 0) / gibibyte));
  if (sizes.some((size) => size < 1) || new Set(sizes).size === 1) return undefined;
  const divisor = sizes.reduce(greatestCommonDivisor);
  const largest = Math.max(...sizes) / divisor;
  const scale = largest > mostShare ? mostShare / largest : 1;
  const shares = sizes.map((size) => Math.max(1, Math.round((size / divisor) * scale)));
  return JSON.stringify(shares) === JSON.stringify(placement.shares) ? undefined : shares;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

const fewestTokens = 2_048;

/** Smaller contexts in tokens: powers of two, the largest first. */
function contexts({ contextTokens }: FitPlacement): readonly number[] {
  const largest = 2 ** Math.floor(Math.log2(Math.max(1, contextTokens - 1)));
  return Array.from({ length: 40 }, (_, power) => largest / 2 ** power).filter((tokens) => tokens >= fewestTokens);
}

function withNodes({ shares: _shares, ...placement }: FitPlacement, nodes: readonly NodeName[]): FitPlacement {
  const sharding = placement.sharding ?? (nodes.length > 1 ? 'pipeline' : undefined);
  return { ...placement, nodes, ...given({ sharding }) };
}

const mostNodes = 16;

/** Other groups of nodes: first of the same size, then larger, then smaller, each with the most free memory first. */
function otherNodes(placement: FitPlacement, search: NearestSearch): readonly (readonly NodeName[])[] {
  const { fleet, seen } = search;
  const others = { ...fleet, placements: fleet.placements.filter(({ name }) => name !== placement.name) };
  const taken = new Map(fitPlacements(others, seen).map(({ node, needBytes }) => [node, needBytes]));
  const room = (node: NodeName): number => (roomOf(fleet, node, seen).budget?.bytes ?? 0) - (taken.get(node) ?? 0);
  const emptiest = fleet.nodes.map(({ name }) => name).toSorted((a, b) => room(b) - room(a));
  const shape = placement.sharding === 'tensor' ? shapeOf(placement, fleet) : undefined;
  // A drafter works only on a single node.
  const isPossible = (count: number): boolean =>
    (count === 1 || placement.drafter === undefined) &&
    (shape === undefined || tensorProblems(shape, count).length === 0);
  const size = placement.nodes.length;
  const most = Math.min(mostNodes, emptiest.length);
  const larger = Array.from({ length: Math.max(0, most - size) }, (_, index) => size + 1 + index);
  const smaller = Array.from({ length: size - 1 }, (_, index) => size - 1 - index);
  return [size, ...larger, ...smaller]
    .filter((count) => count <= most && isPossible(count))
    .flatMap((count) => groupOf(emptiest, count, placement, search.links));
}

/** The first nodes in this order with a cable between every pair, as the only group; no group if there are too few. */
function groupOf(
  nodes: readonly NodeName[],
  count: number,
  placement: FitPlacement,
  links: NearestSearch['links'],
): readonly (readonly NodeName[])[] {
  const isJoined = (a: NodeName, b: NodeName): boolean =>
    links === undefined || linksBetween({ links }, a, b).length > 0;
  for (const first of nodes) {
    const group: NodeName[] = [first];
    for (const node of nodes) {
      const isNext = node !== first && group.length < count && group.every((other) => isJoined(other, node));
      if (isNext) group.push(node);
    }
    const isSame = group.length === placement.nodes.length && group.every((node) => placement.nodes.includes(node));
    if (group.length === count && !isSame) return [group];
  }
  return [];
}
