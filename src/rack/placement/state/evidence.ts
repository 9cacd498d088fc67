import { exitWords } from '../../../model/facts/daemons.ts';
import type { Facts, TokenSight } from '../../../model/facts/fact-values.ts';
import type { FlowSight } from '../../../model/gateway.ts';
import { doorsHeard } from '../endpoint/doors.ts';
import { isRunning, type RankOnNode, type SeenMember } from '../members.ts';

/** `studio-2 exited (1), studio-3 exited (78: EX_CONFIG)`: why no rank runs, where one was started. */
export const deadEvidence = (ranks: readonly RankOnNode[]): string =>
  listed(ranks.filter(({ seen }) => seen.state === 'exited').map(({ node, seen }) => `${node} ${idleWords(seen)}`));

/** `rank 1 on studio-2 exited (1)`: which ranks are missing while others run. */
export const missingRanks = (ranks: readonly RankOnNode[]): string =>
  listed(
    ranks
      .filter(({ seen }) => !isRunning(seen))
      .map(({ node, rank, seen }) => `rank ${rank} on ${node} ${idleWords(seen)}`),
  );

/** Why nothing runs where nothing exited: a restart of a Mac takes its ranks with it. */
export function idleEvidence(ranks: readonly RankOnNode[]): string {
  const restarted = ranks.filter(({ seen }) => wasRestarted(seen)).map(({ node }) => node);
  return restarted.length === 0 ? 'no rank runs' : `no rank runs since a restart of ${listed(restarted)}`;
}

/** Whether no token came before the deadline, and nothing else is known to be wrong. */
export const isLate = (token: TokenSight | undefined): boolean => token?.kind === 'silent' && token.isTimeout === true;

/**
 * `no token: status 503; rank 2 on studio-3 has not joined`.
 *
 * @param traffic what its doorman sees; absent where there is none
 */
export function silentEvidence(
  token: Extract<TokenSight, { kind: 'silent' }>,
  ranks: readonly RankOnNode[],
  traffic?: Traffic,
): string {
  const apart = ranks.filter(({ seen }) => seen.state === 'running' || seen.state === 'meeting');
  const missing = apart.map(({ node, rank }) => `rank ${rank} on ${node} has not joined`);
  const isUnclear = isLate(token) && apart.length === 0 && traffic?.kind !== 'stuck';
  const seen = isLate(token) && traffic !== undefined ? [traffic.words] : [];
  return [`no token: ${token.reason}`, ...missing, ...seen, ...(isUnclear ? ['it is hung or busy'] : [])].join('; ');
}

/** What tells running ranks apart from those of one start; `undefined` when they belong together. */
export function unequalRanks(ranks: readonly RankOnNode[]): string | undefined {
  const bare = ranks.filter(({ seen }) => seen.record === undefined).map(({ node }) => node);
  if (bare.length > 0) return `a rank without a record runs on ${listed(bare)}`;
  const [first, ...others] = ranks;
  const odd = others.filter(({ seen }) => startOf(seen) !== (first === undefined ? '' : startOf(first.seen)));
  return odd.length === 0
    ? undefined
    : `the ranks on ${listed(odd.map(({ node }) => node))} are of another start than the leader`;
}

const startOf = ({ record }: SeenMember): string => `${record?.generation} ${record?.digest}`;

/** Started once, but not in this boot session, and launchd has not started it since. */
const wasRestarted = ({ state, record, starts }: SeenMember): boolean =>
  state === 'ready' && record !== undefined && record.starts > 0 && starts.kind === 'known' && starts.value === 0;

function idleWords({ state, lastExit }: SeenMember): string {
  switch (state) {
    case 'exited':
      return exitWords(lastExit);
    case 'ready':
      return 'was not started';
    case 'stopped':
      return 'is stopped';
    default:
      return 'is not there';
  }
}

const listed = (words: readonly string[]): string => words.join(', ');

/**
 * What the doorman of a mesh sees of it while it gives no token of its own in time: `flowing` when answers came lately,
 * `stuck` when it has a request for a stream and gave nothing for longer than any prompt is read, `unclear` in between.
 */
export interface Traffic {
  readonly kind: 'flowing' | 'stuck' | 'unclear' | 'nobody';
  readonly words: string;
}

/**
 * The longest that a mesh is quiet while it reads a prompt: a model of 671e9 parameters reads the longest ones with some
 * hundred tokens a second.
 */
const longestQuietMs = 600_000;

/** How long a mesh may take for what. */
interface TrafficTimes {
  /** How long the request for one token waited: whatever came in that time was made beside it. */
  readonly latelyMs: number;
  /** What the file gives it for a first token; a longer time than usual counts here too. */
  readonly firstTokenMs?: number;
}

/**
 * What the doormen before a mesh say; undefined where there is none, or where nobody heard one: then nothing is known of
 * clients. While an endpoint moves it has two doors: what flows through one shows that the other does not hang.
 */
export function trafficAt(leader: Facts | undefined, placement: string, times: TrafficTimes): Traffic | undefined {
  if (leader === undefined) return undefined;
  const { doors, isWhole } = doorsHeard(leader, placement);
  const all = doors.map((door) => trafficOf(door, times));
  const flowing = all.find(({ kind }) => kind === 'flowing');
  if (flowing !== undefined) return flowing;
  if (isWhole && all.every(({ kind }) => kind === 'stuck')) return all[0];
  const waiting = all.find(({ kind }) => kind === 'stuck') ?? all.find(({ kind }) => kind === 'unclear');
  return waiting === undefined ? all[0] : { kind: 'unclear', words: waiting.words };
}

function trafficOf(
  { running, waiting, lastByteMsAgo, quietMs, streamQuietMs = 0 }: FlowSight,
  { latelyMs, firstTokenMs = 0 }: TrafficTimes,
): Traffic {
  const inside = running + waiting;
  if (inside === 0) return { kind: 'nobody', words: 'nobody is inside its door' };
  const requests = `${inside} ${inside === 1 ? 'request is' : 'requests are'} inside its door`;
  // What came before those inside had asked says nothing of them: then it is quiet for less time than that.
  const isTheirs = lastByteMsAgo !== undefined && lastByteMsAgo <= Math.min(latelyMs, quietMs ?? latelyMs);
  if (running > 0 && isTheirs) {
    return { kind: 'flowing', words: `${requests}, and something of an answer came ${secondsText(lastByteMsAgo)} ago` };
  }
  if (quietMs === undefined) return { kind: 'unclear', words: requests };
  const words = `${requests}, and nothing of an answer came for ${secondsText(quietMs)}`;
  return { kind: streamQuietMs > Math.max(longestQuietMs, firstTokenMs) ? 'stuck' : 'unclear', words };
}

const secondsText = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.floor(ms / 60_000)} min`;
