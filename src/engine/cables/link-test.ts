import { median } from '../../model/lists.ts';
import type { CableVerdict, MeasuredCable, TransportResult } from '../../model/measured-cable.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { type CableMacs, type CableRating, cableRatings, enoughSources, ratingsFor } from './cable-ratings.ts';

/** What one end printed, and why it printed no more, if known. */
export interface EndOutput {
  readonly stdout: string;
  /** Replaces a missing reason: the exit, or the reason why nothing was sent. */
  readonly ending: string;
}

/** The result of one transport, or why there is none. `isBroken`: the cable itself carries nothing. */
export type Transport =
  | { readonly kind: 'measured'; readonly result: TransportResult }
  | { readonly kind: 'failed'; readonly isBroken: boolean; readonly reason: string };

/** Reasons that are the cable's: no port, connection or message. A refused TCP connection is none: the Mac answered. */
const brokenForms = [
  /^(?:no message arrived|the port is not active)$/,
  /^ibv_modify_qp to \w{1,9} failed with error \d{1,9}$/,
  /^a work request failed with status \d{1,9}$/,
  /^connect: (?:Operation timed out|Connection timed out|No route to host|Host is down|Network is unreachable)$/,
] as const;

/** An end that only lost the other one is not the cause. */
const followsForm = /^the other end /;

/** What the loader of macOS or Linux says about every place where it has looked. */
const loaderForm = /^(?:dlopen\()?librdma\.dylib\b/;
const noLibrary = 'no RDMA library was found (macOS 26.2 or later has it; simulated Macs: npm run native)';

/**
 * Combines the lines of both ends, the leading one first.
 *
 * @see native/core/measure.h and measure-tcp.pl: both programs print the same lines
 */
export function readTransport(ends: readonly [EndOutput, EndOutput]): Transport {
  const lines = ends.map(({ stdout }) => stdout.split('\n').slice(0, -1));
  const left = lines.flat().find((line) => line.startsWith('left '));
  if (left !== undefined) return failedFor(`not given back: ${left.slice('left '.length)}`);
  const reasons = ends.flatMap(({ ending }, at) => reasonOf(lines[at] ?? [], ending) ?? []);
  // An end that vanished, such as a Mac that crashed, says nothing about the cable.
  const vanished = reasons.find(({ isReported }) => !isReported);
  if (vanished !== undefined) return { kind: 'failed', isBroken: false, reason: vanished.reason };
  const own = reasons.find(({ reason }) => !followsForm.test(reason)) ?? reasons[0];
  if (own !== undefined) return failedFor(own.reason);
  const [lead = [], follow = []] = lines;
  const latency = numbersAfter('latency', lead, 5);
  const there = streamOf(lead, follow);
  const back = streamOf(follow, lead);
  if (latency === undefined || there === undefined || back === undefined) return failedFor('an end printed no result');
  const [samples = 0, lost = 0, medianNs = 0, p99Ns = 0, maxNs = 0] = latency;
  const streams = [there, back];
  return {
    kind: 'measured',
    result: {
      samples,
      lost,
      medianNs,
      p99Ns,
      maxNs,
      bytesPerSecond: streams.map((one) => one.bytesPerSecond),
      missing: sum(streams.map((one) => one.missing)),
      wrong: sum(streams.map((one) => one.wrong)),
    },
  };
}

const failedFor = (reason: string): Transport => ({
  kind: 'failed',
  isBroken: brokenForms.some((form) => form.test(reason)),
  reason,
});

/** Why an end did not measure everything, as its program reported it, or else how it ended; undefined if it did. */
function reasonOf(lines: readonly string[], ending: string) {
  const failed = lines.find((line) => line.startsWith('failed '));
  if (failed !== undefined) {
    const reason = failed.slice('failed '.length, maxReason);
    return { isReported: true, reason: loaderForm.test(reason) ? noLibrary : reason };
  }
  return lines.at(-1) === 'done' ? undefined : { isReported: false, reason: ending.slice(0, maxReason) };
}

const maxReason = 200;

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);

/** The numbers in the only line that begins with this word; undefined if there is no such line. */
function numbersAfter(word: string, lines: readonly string[], count: number): readonly number[] | undefined {
  const found = lines.filter((line) => line.startsWith(`${word} `));
  const words = found[0]?.split(' ').slice(1) ?? [];
  const isWhole = found.length === 1 && words.length === count && words.every((one) => /^\d{1,15}$/.test(one));
  return isWhole ? words.map(Number) : undefined;
}

/** The stream in one direction, from the lines of its sender and its receiver; undefined if they are not valid. */
function streamOf(sender: readonly string[], receiver: readonly string[]) {
  const sent = numbersAfter('sent', sender, 2);
  const received = numbersAfter('received', receiver, 4);
  if (sent === undefined || received === undefined) return undefined;
  const [messages = 0] = sent;
  const [arrived = 0, bytes = 0, ns = 0, wrong = 0] = received;
  if (ns === 0 || bytes === 0 || arrived > messages) return undefined;
  return { bytesPerSecond: Math.round((bytes / ns) * 1e9), missing: messages - arrived, wrong };
}

export interface TestedCable {
  readonly ends: readonly [LinkEnd, LinkEnd];
  readonly macs: CableMacs;
  readonly rdma: Transport;
  readonly tcp: Transport;
}

/** A cable below half of its siblings' rate is slow. */
const slowRate = 2;
/** Latencies of a few microseconds vary more. Without RDMA, they are more than ten times as high. */
const slowLatency = 4;

interface Limits {
  readonly medianNs: number;
  readonly bytesPerSecond: number;
}

/**
 * The verdict on a cable. `siblings` are the other cables of the same run. A cable as fast as its siblings is `good` only
 * if enough published measurements exist for its Macs; otherwise it is `unrated`.
 */
export function cableVerdict(
  cable: TestedCable,
  siblings: readonly TestedCable[],
  published: readonly CableRating[] = cableRatings,
): CableVerdict {
  const { rdma, tcp } = cable;
  if (rdma.kind === 'failed') {
    if (!rdma.isBroken || (tcp.kind === 'failed' && !tcp.isBroken)) return 'unknown';
    return tcp.kind === 'measured' ? 'tcp-only' : 'dead';
  }
  const others = siblings.flatMap((one) => (one === cable || one.rdma.kind === 'failed' ? [] : [one.rdma.result]));
  const ratings = ratingsFor(cable.macs, published);
  const isRated = ratings.length >= enoughSources;
  const limits = [usualOf(others), ...(isRated ? [ratedLimits(ratings)] : [])];
  if (limits.some((limit) => isSlow(rdma.result, limit))) return 'slow';
  return isRated ? 'good' : 'unrated';
}

const isSlow = ({ medianNs, bytesPerSecond }: TransportResult, limits: Limits): boolean =>
  medianNs > limits.medianNs * slowLatency || Math.min(...bytesPerSecond) * slowRate < limits.bytesPerSecond;

/** Without siblings, no limit. */
const usualOf = (results: readonly TransportResult[]): Limits => ({
  medianNs: median(results.map(({ medianNs }) => medianNs)) ?? Number.POSITIVE_INFINITY,
  bytesPerSecond: median(results.map(({ bytesPerSecond }) => Math.min(...bytesPerSecond))) ?? 0,
});

/** The slowest published measurement still counts as good. */
const ratedLimits = (ratings: readonly CableRating[]): Limits => ({
  medianNs: Math.max(...ratings.map(({ microseconds }) => microseconds * 1_000)),
  bytesPerSecond: Math.min(
    ...ratings.map(({ gigabytesPerSecond }) => (gigabytesPerSecond ?? Number.POSITIVE_INFINITY) * 1e9),
  ),
});

export function measuredCable(cable: TestedCable, siblings: readonly TestedCable[]): MeasuredCable {
  const { rdma, tcp } = cable;
  return {
    ends: cable.ends.map(linkEndText),
    verdict: cableVerdict(cable, siblings),
    ...(rdma.kind === 'measured' ? { rdma: rdma.result } : {}),
    ...(tcp.kind === 'measured' ? { tcp: tcp.result } : {}),
    ...(rdma.kind === 'failed' ? { rdmaFailure: rdma.reason } : {}),
    ...(tcp.kind === 'failed' ? { tcpFailure: tcp.reason } : {}),
  };
}
