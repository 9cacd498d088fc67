import type { EndpointTraffic } from '../model/gateway.ts';

/** A request at a runtime. All functions may be called repeatedly. After `end`, calls have no effect. */
export interface Passage {
  /** Reports bytes of the answer, unless it is a refusal. Bytes without text may just be a server's keep-alive. */
  readonly came: (hasText?: boolean) => void;
  /** Reports whether the client has paused reading. */
  readonly hold: (isHeld: boolean) => void;
  readonly end: () => void;
}

/** Records when one runtime sent something, but not what it sent. */
export interface Flow {
  /** @param isStreamed whether the answer is streamed */
  readonly begin: (isStreamed: boolean) => Passage;
  /** Forgets the last token, because it proves nothing about a mesh that started later. */
  readonly forgetToken: () => void;
  readonly sight: () => Pick<EndpointTraffic, 'lastByteMsAgo' | 'quietMs' | 'streamQuietMs'> & {
    /** The time since the last text in any answer; absent if there was none. */
    readonly lastTokenMsAgo?: number;
  };
}

/** Measures with a clock that never goes backward. */
export function makeFlow(now: () => number): Flow {
  const inFlight = new Set<Passage>();
  const held = new Set<Passage>();
  /** The start times of requests with streamed answers. */
  const streamed = new Map<Passage, number>();
  let lastByteAtMs: number | undefined;
  let lastTokenAtMs: number | undefined;
  // An idle runtime has no reason to send anything, so its silence begins with the next request.
  let quietFromMs = now();

  function begin(isStreamed: boolean): Passage {
    if (inFlight.size === 0) quietFromMs = now();
    const passage: Passage = {
      came: (hasText) => {
        if (!inFlight.has(passage)) return;
        lastByteAtMs = now();
        if (hasText === true) lastTokenAtMs = lastByteAtMs;
        quietFromMs = lastByteAtMs;
      },
      hold: (isHeld) => {
        if (isHeld && inFlight.has(passage)) held.add(passage);
        // While the client read nothing, the answer could not arrive.
        else if (held.delete(passage)) quietFromMs = now();
      },
      end: () => {
        passage.hold(false);
        inFlight.delete(passage);
        streamed.delete(passage);
      },
    };
    inFlight.add(passage);
    if (isStreamed) streamed.set(passage, now());
    return passage;
  }

  function sight(): ReturnType<Flow['sight']> {
    const at = now();
    const isJudged = inFlight.size > 0 && held.size === 0;
    // An answer in one piece arrives only when it is complete, so the silence before it says nothing about the runtime.
    const streamFromMs = Math.max(quietFromMs, Math.min(...streamed.values()));
    return {
      ...(lastByteAtMs === undefined ? {} : { lastByteMsAgo: Math.round(at - lastByteAtMs) }),
      ...(lastTokenAtMs === undefined ? {} : { lastTokenMsAgo: Math.round(at - lastTokenAtMs) }),
      ...(isJudged ? { quietMs: Math.round(at - quietFromMs) } : {}),
      ...(isJudged && streamed.size > 0 ? { streamQuietMs: Math.round(at - streamFromMs) } : {}),
    };
  }
  const forgetToken = (): void => {
    lastTokenAtMs = undefined;
  };
  return { begin, forgetToken, sight };
}
