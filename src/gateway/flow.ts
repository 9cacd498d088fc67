import type { EndpointTraffic } from '../model/gateway.ts';

/** A request at a runtime. All functions may be called repeatedly. After the end, calls have no effect. */
export interface Passage {
  /** Bytes of its answer arrived, refusals excluded. Bytes without text may be a server's sign of life. */
  readonly came: (hasText?: boolean) => void;
  /** Whether its client is not reading at the moment. */
  readonly hold: (isHeld: boolean) => void;
  readonly end: () => void;
}

/** When one runtime sent anything, without the content. */
export interface Flow {
  /** @param isStreamed whether its answer is streamed */
  readonly begin: (isStreamed: boolean) => Passage;
  /** Forgets the last token, because it proves nothing about a mesh that started later. */
  readonly forgetToken: () => void;
  readonly sight: () => Pick<EndpointTraffic, 'lastByteMsAgo' | 'quietMs' | 'streamQuietMs'> & {
    /** Since the last text of any answer; absent if there was none. */
    readonly lastTokenMsAgo?: number;
  };
}

/** Measures with a clock that never goes back. */
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
        // While its client read nothing, the answer could not arrive.
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
    // An answer in one piece arrives at its end, so the silence before it says nothing about the runtime.
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
