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
import { gibibyte, mebibyte } from '../model/text/units.ts';
import { rankNeeds } from './contract/memory.ts';
import { driverOf } from './registry.ts';

/** Observed memory by node name. For missing nodes, the file's values apply. */
export type SeenMemories = Readonly<Record<string, SeenMemory | undefined>>;

/** One node's memory, and the part that its GPU may use. */
interface NodeRoom {
  readonly memoryBytes?: number;
  readonly budget?: MemoryBudget;
}

/** Observed values take precedence over the file. */
export function roomOf(fleet: FitFleet, node: NodeName, seen: SeenMemories): NodeRoom {
  const desired = fleet.nodes.find(({ name }) => name === node);
  const observed = Object.hasOwn(seen, node) ? seen[node] : undefined;
  const memoryBytes = observed?.memoryBytes ?? desired?.hardware.memoryBytes;
  const known = memoryBytes === undefined ? {} : { memoryBytes };
  const budget = memoryBudget(fleet.system.wiredLimit, { ...observed, ...known });
  return { ...known, ...given({ budget }) };
}

/** Memory needs of a placement's ranks, in rank order; undefined while a model's shape is unknown. */
export function placementNeeds(
  placement: FitPlacement,
  fleet: FitFleet,
  seen: SeenMemories,
): readonly RankNeed[] | undefined {
  const shape = shapeOf(placement, fleet);
  const driver = fleet.runtimes.find(({ name }) => name === placement.runtime)?.driver;
  const drafterShape = shapeOf({ model: placement.drafter ?? '' }, fleet);
  if (shape === undefined || driver === undefined) return undefined;
  if (placement.drafter !== undefined && drafterShape === undefined) return undefined;
  const rooms = placement.nodes.map((node) => {
    const { memoryBytes, budget } = roomOf(fleet, node, seen);
    return given({ memoryBytes, budgetBytes: budget?.bytes });
  });
  const wholeRanks = placement.roles?.prefill === undefined ? [] : [placement.nodes.indexOf(placement.roles.prefill)];
  return rankNeeds({ ...placement, shape, wholeRanks, ...given({ drafterShape }) }, rooms, driverOf({ driver }).memory);
}

export const shapeOf = ({ model }: Pick<FitPlacement, 'model'>, { models }: FitFleet): ModelShape | undefined =>
  models.find(({ name }) => name === model)?.shape;

const isHeldOn = (node: NodeName, { nodes, lingersOn = nodes }: FitPlacement): boolean => lingersOn.includes(node);

/** The rank on this node. If the file places none there anymore, that with the largest need is assumed to run. */
function rankOn(node: NodeName, { nodes }: FitPlacement, needs: readonly RankNeed[]): number {
  const rank = nodes.indexOf(node);
  if (rank >= 0) return rank;
  return needs.reduce((most, { total }, index) => (total > (needs[most]?.total ?? 0) ? index : most), 0);
}

/** Memory use of every node with placements, all of which should serve, in the file's node order. */
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

/** Classifies a need in bytes against a node; undefined while the node's memory is unknown. */
export function fitVerdict(needBytes: number, { memoryBytes, budget }: NodeRoom): FitVerdict | undefined {
  if (memoryBytes === undefined || budget === undefined) return undefined;
  if (needBytes > budget.bytes) return 'does-not-fit';
  if (needBytes > fitMarks.tight * budget.bytes) return 'tight';
  if (needBytes > fitMarks.degraded * memoryBytes) return 'degraded';
  return needBytes > fitMarks.nearDegraded * memoryBytes ? 'near-degraded' : 'fits';
}

const order: readonly FitVerdict[] = ['fits', 'near-degraded', 'degraded', 'tight', 'does-not-fit'];

export const isWorse = (one: FitVerdict, other: FitVerdict): boolean => order.indexOf(one) > order.indexOf(other);

/** The worst verdict of a placement's nodes; undefined if no node has one. */
export function worstVerdict(placement: Pick<FitPlacement, 'nodes'>, fits: readonly NodeFit[]): FitVerdict | undefined {
  const verdicts = fits.flatMap(({ node, verdict }) =>
    verdict !== undefined && placement.nodes.includes(node) ? [verdict] : [],
  );
  return verdicts.reduce<FitVerdict | undefined>(
    (worst, verdict) => (worst === undefined || isWorse(verdict, worst) ? verdict : worst),
    undefined,
  );
}

/**
 * macOS's default GPU limit as a share of memory, by memory size in GiB. Reported: 66.7 % for 16 and 32 GB, 75 % for 64
 * and 96 GB, 78.0 % for 48 GB, 475,136 MiB for 512 GB. Sizes in between get the lower value.
 *
 * @see docs/fit.md, reports of llama.cpp and MLX users
 */
const usualShares: readonly (readonly [fromGibibytes: number, share: number])[] = [
  [512, 475_136 / (512 * 1_024)],
  [64, 0.75],
  [48, 0.75],
  [0, 2 / 3],
];

interface SeenMemory {
  readonly memoryBytes?: number;
  /** `iogpu.wired_limit_mb` if observed; 0: macOS decides. */
  readonly wiredMegabytes?: number;
  /** The GPU limit that a runtime reported in this boot session. */
  readonly reportedBytes?: number;
}

/**
 * The memory that a node's GPU may use. In order of precedence: the file's limit, which apply sets before any start;
 * the limit set on the node; the limit that a runtime reported while none was set; the usual share for the memory size.
 * Undefined if the node's memory is unknown.
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
  // A report counts only if no limit was set after it.
  const isOwnChoice = wiredMegabytes === 0 && reportedBytes !== undefined && reportedBytes <= memoryBytes;
  if (isOwnChoice) return { kind: 'reported', bytes: reportedBytes };
  const share = usualShares.find(([from]) => memoryBytes >= from * gibibyte)?.[1] ?? 2 / 3;
  return { kind: 'assumed', bytes: Math.floor(memoryBytes * share) };
}
