import { wantedWiredMegabytes } from '../desired/amounts.ts';
import type { DesiredWiredLimit } from '../model/desired.ts';
import {
  type FitFleet,
  type FitPlacement,
  type FitVerdict,
  fitMarks,
  type MemoryBudget,
  type NodeFit,
  type PlacementShare,
  type RankNeed,
} from '../model/fit.ts';
import { given } from '../model/given.ts';
import type { ModelShape } from '../model/model-shape.ts';
import type { NodeName } from '../model/node.ts';
import { rankNeeds } from './contract/memory.ts';
import { driverOf } from './registry.ts';

/** What was seen of the memory of nodes, by name; the file says it of the others. */
export type SeenMemories = Readonly<Record<string, SeenMemory | undefined>>;

/** The memory of one node, and what its GPU may use of it. */
interface NodeRoom {
  readonly memoryBytes?: number;
  readonly budget?: MemoryBudget;
}

/** What is known of a node: what was seen comes before what the file says. */
export function roomOf(fleet: FitFleet, node: NodeName, seen: SeenMemories): NodeRoom {
  const desired = fleet.nodes.find(({ name }) => name === node);
  const looked = Object.hasOwn(seen, node) ? seen[node] : undefined;
  const memoryBytes = looked?.memoryBytes ?? desired?.hardware.memoryBytes;
  const known = memoryBytes === undefined ? {} : { memoryBytes };
  const budget = memoryBudget(fleet.system.wiredLimit, { ...looked, ...known });
  return { ...known, ...given({ budget }) };
}

/** What the ranks of a placement need, in rank order; undefined while the shape of its model is unknown. */
export function placementNeeds(
  placement: FitPlacement,
  fleet: FitFleet,
  seen: SeenMemories,
): readonly RankNeed[] | undefined {
  const shape = shapeOf(placement, fleet);
  const driver = fleet.runtimes.find(({ name }) => name === placement.runtime)?.driver;
  if (shape === undefined || driver === undefined) return undefined;
  const rooms = placement.nodes.map((node) => {
    const { memoryBytes, budget } = roomOf(fleet, node, seen);
    return {
      ...given({ memoryBytes }),
      ...(budget === undefined ? {} : { budgetBytes: budget.bytes }),
    };
  });
  return rankNeeds({ ...placement, shape }, rooms, driverOf({ driver }).memory);
}

/** The shape of the model of a placement, where it is known. */
export const shapeOf = ({ model }: Pick<FitPlacement, 'model'>, { models }: FitFleet): ModelShape | undefined =>
  models.find(({ name }) => name === model)?.shape;

const isHeldOn = (node: NodeName, { nodes, lingersOn = nodes }: FitPlacement): boolean => lingersOn.includes(node);

/** Its rank on a node; where the file has it no more, the one that needs most stands for what may run there. */
function rankOn(node: NodeName, { nodes }: FitPlacement, needs: readonly RankNeed[]): number {
  const rank = nodes.indexOf(node);
  if (rank >= 0) return rank;
  return needs.reduce((most, { total }, index) => (total > (needs[most]?.total ?? 0) ? index : most), 0);
}

/**
 * The memory of every node that carries a placement, with all placements that are to serve on it: sorted as the file has
 * its nodes.
 */
export function fitPlacements(fleet: FitFleet, seen: SeenMemories = {}): readonly NodeFit[] {
  const serving = fleet.placements.filter(({ state }) => state === 'serving');
  const needs = serving.map((placement) => ({ placement, needs: placementNeeds(placement, fleet, seen) }));
  const names = fleet.nodes.map(({ name }) => name).filter((name) => serving.some((one) => isHeldOn(name, one)));
  return names.map((node) => {
    const here = needs.filter(({ placement }) => isHeldOn(node, placement));
    const shares = here.flatMap(({ placement, needs: all }): readonly PlacementShare[] => {
      const rank = rankOn(node, placement, all ?? []);
      const need = all?.[rank];
      return need === undefined ? [] : [{ placement: placement.name, rank, need }];
    });
    const unknown = here.filter((one) => one.needs === undefined).map(({ placement }) => placement.name);
    return nodeFit(node, roomOf(fleet, node, seen), { shares, unknown });
  });
}

function nodeFit(node: NodeName, room: NodeRoom, carried: Pick<NodeFit, 'shares' | 'unknown'>): NodeFit {
  const needBytes = carried.shares.reduce((sum, { need }) => sum + need.total, 0);
  const verdict = fitVerdict(needBytes, room);
  return { node, ...room, ...carried, needBytes, ...given({ verdict }) };
}

/** How a node copes with so many bytes; undefined while its memory is unknown. */
export function fitVerdict(needBytes: number, { memoryBytes, budget }: NodeRoom): FitVerdict | undefined {
  if (memoryBytes === undefined || budget === undefined) return undefined;
  if (needBytes > budget.bytes) return 'does-not-fit';
  if (needBytes > fitMarks.tight * budget.bytes) return 'tight';
  if (needBytes > fitMarks.degraded * memoryBytes) return 'degraded';
  return needBytes > fitMarks.nearDegraded * memoryBytes ? 'near-degraded' : 'fits';
}

const order: readonly FitVerdict[] = ['fits', 'near-degraded', 'degraded', 'tight', 'does-not-fit'];

/** Whether a verdict is worse than another one. */
export const isWorse = (one: FitVerdict, other: FitVerdict): boolean => order.indexOf(one) > order.indexOf(other);

/** The worst verdict of the nodes of a placement; undefined when none of them has one. */
export function worstVerdict(placement: Pick<FitPlacement, 'nodes'>, fits: readonly NodeFit[]): FitVerdict | undefined {
  const verdicts = fits.flatMap(({ node, verdict }) =>
    verdict !== undefined && placement.nodes.includes(node) ? [verdict] : [],
  );
  return verdicts.reduce<FitVerdict | undefined>(
    (worst, verdict) => (worst === undefined || isWorse(verdict, worst) ? verdict : worst),
    undefined,
  );
}

const mebibyte = 2 ** 20;

const gibibyte = 2 ** 30;

/**
 * What macOS lets the GPU wire by itself, as a share of the memory of at least so many GiB. Reported were 66.7 % with 16
 * and 32 GB, 75 % with 64 and 96 GB, 78.0 % with 48 GB and 475,136 MiB with 512 GB; between them the lower one is taken.
 *
 * @see docs/fit.md, reports of llama.cpp and MLX users
 */
const usualShares: readonly (readonly [fromGibibytes: number, share: number])[] = [
  [512, 475_136 / (512 * 1_024)],
  [64, 0.75],
  [48, 0.75],
  [0, 2 / 3],
];

/** What is known of the memory of a node. */
interface SeenMemory {
  readonly memoryBytes?: number;
  /** `iogpu.wired_limit_mb`, where somebody looked; 0 is macOS's own choice. */
  readonly wiredMegabytes?: number;
  /** What a runtime said that its GPU may use, in this boot session. */
  readonly reportedBytes?: number;
}

/**
 * How much the GPU of a node may use: what the file sets, since apply sets it before anything is started; else what the
 * node has; else what a runtime was told there, while nobody has set anything else; else what is usual for its size.
 * Undefined when its memory is unknown as well.
 */
export function memoryBudget(
  wanted: DesiredWiredLimit | undefined,
  { memoryBytes, wiredMegabytes, reportedBytes }: SeenMemory,
): MemoryBudget | undefined {
  const desired = wantedWiredMegabytes(wanted, memoryBytes);
  if (desired !== undefined && desired > 0) return { kind: 'desired', bytes: desired * mebibyte };
  if (desired === undefined && wiredMegabytes !== undefined && wiredMegabytes > 0) {
    return { kind: 'seen', bytes: wiredMegabytes * mebibyte };
  }
  if (memoryBytes === undefined) return undefined;
  // A limit that was set since, or that nobody could see, makes a report one of another time.
  const isOwnChoice = wiredMegabytes === 0 && reportedBytes !== undefined && reportedBytes <= memoryBytes;
  if (isOwnChoice) return { kind: 'reported', bytes: reportedBytes };
  const share = usualShares.find(([from]) => memoryBytes >= from * gibibyte)?.[1] ?? 2 / 3;
  return { kind: 'assumed', bytes: Math.floor(memoryBytes * share) };
}
