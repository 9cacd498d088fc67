import type { EndpointTraffic } from '../model/gateway.ts';

/** A request that a runtime is handling. All functions may be called repeatedly; after `end`, they have no effect. */
export interface Passage {
  /** Reports that bytes of a response (not of a refusal) have arrived. Bytes without text may be just a keep-alive. */
  readonly came: (hasText?: boolean) => void;
  /** Reports that the client has stopped or resumed reading. */
  readonly hold: (isHeld: boolean) => void;
  readonly end: () => void;
}

/** Records when a runtime sent data, but not the data itself. */
export interface Flow {
  /** @param isStreamed whether the response is streamed */
  readonly begin: (isStreamed: boolean) => Passage;
  /** Forgets the last token, which proves nothing about a mesh that was started later. */
  readonly forgetToken: () => void;
  readonly sight: () => Pick<EndpointTraffic, 'lastByteMsAgo' | 'quietMs' | 'streamQuietMs'> & {
    /** The time since the last text in any response; absent if no text has arrived yet. */
    readonly lastTokenMsAgo?: number;
  };
}

/** Tracks the traffic of one runtime. @param now a monotonic clock */
export function makeFlow(now: () => number): Flow {
  const inFlight = new Set<Passage>();
  const held = new Set<Passage>();
  /** The start times of requests with streamed responses. */
  const streamed = new Map<Passage, number>();
  let lastByteAtMs: number | undefined;
  let lastTokenAtMs: number | undefined;
  // An idle runtime has no reason to send data, so its silence is measured from the next request.
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
        // While the client was not reading, no data could arrive.
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
    // A non-streaming response arrives only when complete, so the silence before it says nothing about the runtime.
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
