import type { Facts } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { bootSessionFact } from '../boot/fact.ts';
import { read, readValue } from '../fact.ts';
import { rdmaStartsFact } from '../placement/observed/fact.ts';
import { rdmaPortsFact } from './devices-fact.ts';
import { countObjects, rdmaHoldersFact, rdmaObjectsFact } from './kernel-fact.ts';

/**
 * The number of RDMA rank starts on a node in one boot session if the limits of its devices are unknown. Every failed
 * start leaks a protection domain, and only a reboot frees it.
 *
 * @see apple-platform: RDMA, limits; peers: two to three jobs per boot
 */
const startsPerBoot = 3;

/** Of the 11 queue pairs that macOS 26.5.1 reports, only 10 can be created. @see apple-platform: RDMA, limits */
const neverFree = 1;

/** The number of RDMA starts in the current boot session that still occupy a node, and its capacity. */
export interface LaunchBudget {
  /**
   * The number of objects in the fullest device that the starts occupy: one per start, because a cable leads to one
   * Mac, but two in a ring of two ranks. From the kernel, or the count of all starts except those that served and
   * stopped cleanly.
   */
  readonly taken: number;
  readonly limit: number;
  /** True if the devices report no limits, so the usual limit is assumed. */
  readonly isAssumed: boolean;
  /** True if the starts were counted, because the kernel could not be read. */
  readonly isCounted: boolean;
}

/**
 * A node's budget, for all placements, including removed ones.
 *
 * @param seenStarts starts that a rank's record shows, in case the node's count is lost
 */
export function launchBudget(facts: Facts, seenStarts = 0): Known<LaunchBudget> {
  const session = read(facts, bootSessionFact);
  const ports = read(facts, rdmaPortsFact);
  const listed = listedBy(facts);
  const counted = listed === undefined ? countOf(facts, seenStarts) : known(listed);
  if (counted.kind === 'unknown') return counted;
  const taken = counted.value;
  const seen = readLimit(facts);
  const limit = seen ?? startsPerBoot;
  if (taken >= limit && listed === undefined && session.kind === 'unknown') return session;
  if (taken >= limit && ports.kind === 'unknown') {
    return unknown(ports.reason, `${taken} starts over RDMA are used up, but the limits are unknown: ${ports.detail}`);
  }
  const isAssumed = seen === undefined;
  if (listed === undefined) return known({ taken, limit, isAssumed, isCounted: true });
  // The kernel's count may include the one object that macOS never allocates.
  return known({ taken: Math.min(taken, limit), limit, isAssumed, isCounted: false });
}

/**
 * The kernel's count for the fullest device; undefined if it cannot be read, or if list and count differ. It includes
 * objects without a process and objects that a process may leave behind.
 */
function listedBy(facts: Facts): number | undefined {
  const counted = readValue(facts, rdmaObjectsFact);
  const devices = readValue(facts, rdmaHoldersFact)?.devices;
  if (counted?.domains === 0 && counted.queuePairs === 0) return 0;
  if (counted === undefined || devices === undefined) return undefined;
  const listed = countObjects(devices.flatMap(({ objects }) => objects));
  if (listed.domains !== counted.domains || listed.queuePairs !== counted.queuePairs) return undefined;
  // A start uses as many domains as queue pairs of a device. A failed start may leave only one kind behind.
  return Math.max(0, ...devices.flatMap(({ objects }) => Object.values(countObjects(objects))));
}

/** The count that the node keeps. */
function countOf(facts: Facts, seenStarts: number): Known<number> {
  const counted = read(facts, rdmaStartsFact);
  const session = read(facts, bootSessionFact);
  if (counted.kind === 'unknown') return counted;
  const { startedIn, starts } = counted.value;
  // The node's count excludes freed starts; a rank's record has only its number of starts.
  if (startedIn !== '' && (session.kind === 'unknown' || session.value.uuid === startedIn)) return known(starts);
  return known(seenStarts);
}

/** The node's usage in words: `10 of 10 slots of its RDMA devices are in use`. */
export const budgetWords = ({ taken, limit, isCounted }: LaunchBudget): string =>
  isCounted
    ? `${taken} of ${limit} starts over RDMA since its last boot are used up`
    : `${taken} of ${limit} slots of its RDMA devices are in use`;

/** How many starts one boot session has room for, by the devices' lowest limit. Undefined if not reported. */
export function readLimit(facts: Facts): number | undefined {
  const ports = readValue(facts, rdmaPortsFact) ?? [];
  const limits = ports.flatMap(({ maxQueuePairs, maxProtectionDomains }) =>
    [maxQueuePairs, maxProtectionDomains].filter((limit) => limit !== undefined),
  );
  return limits.length === 0 ? undefined : Math.max(1, Math.min(...limits) - neverFree);
}

/**
 * True if one start needs more than a whole boot session offers, so a restart does not help.
 *
 * @param takes the number of objects of each device that the start takes
 */
export const isNeverEnough = ({ limit, isAssumed }: LaunchBudget, takes: number): boolean =>
  !isAssumed && takes > limit;

/**
 * True if there is room for exactly one more start. False in a boot session without any start.
 *
 * @param takes the number of objects of each device that a start takes
 */
export const hasOneLeft = (budget: LaunchBudget, takes = 1): boolean =>
  budget.taken > 0 && !isSpent(budget, takes) && isSpent({ ...budget, taken: budget.taken + takes }, takes);

/**
 * True if there is no room for a start. An assumed limit counts starts, whatever they take.
 *
 * @param takes the number of objects of each device that the start takes
 */
export const isSpent = ({ taken, limit, isAssumed }: LaunchBudget, takes = 1): boolean =>
  taken + (isAssumed ? 1 : takes) > limit;
