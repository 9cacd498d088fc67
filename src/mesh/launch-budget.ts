import { type Known, known, unknown } from '../model/known.ts';
import type { Facts } from '../model/observation.ts';
import type { RdmaPort } from '../model/rdma-values.ts';

/**
 * How often ranks over RDMA may be started on a node in one boot session while nobody knows the limits of its devices:
 * every start that fails leaks a protection domain, and only a reboot frees it.
 *
 * @see apple-platform: RDMA, limits; peers: two to three jobs per boot
 */
const startsPerBoot = 3;

/** Of the 11 queue pairs that macOS 26.5.1 reports only 10 can be made. @see apple-platform: RDMA, limits */
const neverFree = 1;

/** How many starts over RDMA of its boot session a node has not given back, and how many it has room for. */
export interface LaunchBudget {
  /** All but those that served and ended clean; each by what it takes of a device: one, since one cable leads to one Mac; two where a ring has two ranks. */
  readonly starts: number;
  readonly limit: number;
  /** Whether the devices say no limits, so that the usual one stands for them. */
  readonly isAssumed: boolean;
}

function limitOf({ maxQueuePairs, maxProtectionDomains }: RdmaPort): number | undefined {
  const limits = [maxQueuePairs, maxProtectionDomains].filter((limit) => limit !== undefined);
  const left = Math.min(...limits) - neverFree;
  return limits.length === 0 ? undefined : Math.max(1, left);
}

/** The scarcest device decides. */
function limitFrom(ports: readonly RdmaPort[]): number | undefined {
  const limits = ports.map(limitOf).filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/**
 * The budget of a node, counted over all placements, those included that were taken away.
 *
 * @param seenStarts starts that a member of a placement knows of, should the count of the node be lost
 */
export function launchBudget(facts: Facts, seenStarts = 0): Known<LaunchBudget> {
  const { 'boot-session': session, 'rdma-ports': ports } = facts;
  const counted = takenOf(facts, seenStarts);
  if (counted.kind === 'unknown') return counted;
  const starts = counted.value;
  const read = readLimit(facts);
  const limit = read ?? startsPerBoot;
  if (starts >= limit && session.kind === 'unknown') return session;
  if (starts >= limit && ports.kind === 'unknown') {
    return unknown(ports.reason, `${starts} starts over RDMA, and the limits are unknown: ${ports.detail}`);
  }
  return known({ starts, limit, isAssumed: read === undefined });
}

/**
 * What is taken of the scarcest device of a node: here a count that the kernel gives takes the place of ours, whose
 * objects of no living process are what only a restart frees.
 */
function takenOf({ 'rdma-starts': counted, 'boot-session': session }: Facts, seenStarts: number): Known<number> {
  if (counted.kind === 'unknown') return counted;
  const { startedIn, starts } = counted.value;
  // The count of the node knows what was given back; a member knows only how often it was started.
  if (startedIn !== '' && (session.kind === 'unknown' || session.value.uuid === startedIn)) return known(starts);
  return known(seenStarts);
}

/** What the devices of a node say that one boot session has room for; undefined where they say no limits, or nobody could see. */
export const readLimit = ({ 'rdma-ports': ports }: Facts): number | undefined =>
  ports.kind === 'known' ? limitFrom(ports.value) : undefined;

/**
 * Whether a start alone takes more than a whole boot session has, so that no restart makes room for it.
 *
 * @param takes what the start takes of each device
 */
export const isNeverEnough = ({ limit, isAssumed }: LaunchBudget, takes: number): boolean =>
  !isAssumed && takes > limit;

/**
 * Whether it has room for one more start and for none behind that; of a boot session without any start nothing is told.
 *
 * @param takes what a start takes of each device
 */
export const hasOneLeft = (budget: LaunchBudget, takes = 1): boolean =>
  budget.starts > 0 && !isSpent(budget, takes) && isSpent({ ...budget, starts: budget.starts + takes }, takes);

/**
 * Whether it has no room for a start. A limit that nobody read is one of jobs, whatever these take.
 *
 * @param takes what the start takes of each device
 */
export const isSpent = ({ starts, limit, isAssumed }: LaunchBudget, takes = 1): boolean =>
  starts + (isAssumed ? 1 : takes) > limit;
