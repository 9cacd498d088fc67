import type { Facts } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { bootSessionFact } from '../boot/fact.ts';
import { read, readValue } from '../fact.ts';
import { rdmaStartsFact } from '../placement/observed/fact.ts';
import { rdmaPortsFact } from './devices-fact.ts';
import { countObjects, rdmaHoldersFact, rdmaObjectsFact } from './kernel-fact.ts';

/**
 * How often ranks over RDMA may be started on a node in one boot session while nobody knows the limits of its devices:
 * every start that fails leaks a protection domain, and only a reboot frees it.
 *
 * @see apple-platform: RDMA, limits; peers: two to three jobs per boot
 */
const startsPerBoot = 3;

/** Of the 11 queue pairs that macOS 26.5.1 reports only 10 can be made. @see apple-platform: RDMA, limits */
const neverFree = 1;

/** How many starts over RDMA a node has not given back since it last started, and how many it has room for. */
export interface LaunchBudget {
  /**
   * What starts have taken of the device that has the least left: one each, since one cable leads to one Mac, two where a
   * ring has two ranks. By the kernel, or by a count of all starts but those that served and ended clean.
   */
  readonly taken: number;
  readonly limit: number;
  /** Whether the devices say no limits, so that the usual one stands for them. */
  readonly isAssumed: boolean;
  /** Whether starts were counted, since the kernel could not be read. */
  readonly isCounted: boolean;
}

/**
 * The budget of a node, counted over all placements, those included that were taken away.
 *
 * @param seenStarts starts that a member of a placement knows of, should the count of the node be lost
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
    return unknown(ports.reason, `${taken} starts over RDMA, and the limits are unknown: ${ports.detail}`);
  }
  const isAssumed = seen === undefined;
  if (listed === undefined) return known({ taken, limit, isAssumed, isCounted: true });
  // The one that macOS never gives may be among them.
  return known({ taken: Math.min(taken, limit), limit, isAssumed, isCounted: false });
}

/**
 * What the kernel lists for the device that has the least left; undefined where it cannot be read, or lists other objects
 * than it counts. An object without a process counts, and so does one whose process may leave it behind.
 */
function listedBy(facts: Facts): number | undefined {
  const counted = readValue(facts, rdmaObjectsFact);
  const devices = readValue(facts, rdmaHoldersFact)?.devices;
  if (counted?.domains === 0 && counted.queuePairs === 0) return 0;
  if (counted === undefined || devices === undefined) return undefined;
  const listed = countObjects(devices.flatMap(({ objects }) => objects));
  if (listed.domains !== counted.domains || listed.queuePairs !== counted.queuePairs) return undefined;
  // A start takes as many domains as queue pairs of a device; what a failed one leaves may be of one kind only.
  return Math.max(0, ...devices.flatMap(({ objects }) => Object.values(countObjects(objects))));
}

/** What the node itself has counted. */
function countOf(facts: Facts, seenStarts: number): Known<number> {
  const counted = read(facts, rdmaStartsFact);
  const session = read(facts, bootSessionFact);
  if (counted.kind === 'unknown') return counted;
  const { startedIn, starts } = counted.value;
  // The count of the node knows what was given back; a member knows only how often it was started.
  if (startedIn !== '' && (session.kind === 'unknown' || session.value.uuid === startedIn)) return known(starts);
  return known(seenStarts);
}

/** `10 of 10 places in its RDMA devices are taken`: how full a node is, by what was read. */
export const budgetWords = ({ taken, limit, isCounted }: LaunchBudget): string =>
  isCounted
    ? `${taken} of ${limit} starts over RDMA since its last boot are used up`
    : `${taken} of ${limit} places in its RDMA devices are taken`;

/**
 * What the devices of a node say that one boot session has room for: the scarcest one decides. Undefined where they say no
 * limits, or it is unobserved.
 */
export function readLimit(facts: Facts): number | undefined {
  const ports = readValue(facts, rdmaPortsFact) ?? [];
  const limits = ports.flatMap(({ maxQueuePairs, maxProtectionDomains }) =>
    [maxQueuePairs, maxProtectionDomains].filter((limit) => limit !== undefined),
  );
  return limits.length === 0 ? undefined : Math.max(1, Math.min(...limits) - neverFree);
}

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
  budget.taken > 0 && !isSpent(budget, takes) && isSpent({ ...budget, taken: budget.taken + takes }, takes);

/**
 * Whether it has no room for a start. A limit that nobody read is one of jobs, whatever these take.
 *
 * @param takes what the start takes of each device
 */
export const isSpent = ({ taken, limit, isAssumed }: LaunchBudget, takes = 1): boolean =>
  taken + (isAssumed ? 1 : takes) > limit;
