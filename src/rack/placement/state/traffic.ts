import type { Facts } from '../../../model/facts/fact-values.ts';
import type { FlowSight } from '../../../model/gateway.ts';
import { doorsHeard } from '../doors/door-sight.ts';

/**
 * What the doorman of a mesh sees of it while it gives no token of its own in time: `flowing` when answers came lately,
 * `stuck` when it has a request for a stream and gave nothing for longer than any prompt is read, `unclear` in between.
 */
export type Traffic =
  | { readonly kind: 'flowing' | 'stuck' | 'unclear'; readonly words: string }
  | { readonly kind: 'nobody'; readonly words: string };

/**
 * The longest that a mesh is quiet while it reads a prompt: a model of 671e9 parameters reads the longest ones with some
 * hundred tokens a second.
 */
const longestQuietMs = 600_000;

/** How long a mesh may take for what. */
export interface TrafficTimes {
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
