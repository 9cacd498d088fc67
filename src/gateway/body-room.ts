/** Memory for the bodies of requests, of which each placement has a share. */
export interface BodyRoom {
  /** An account for a body that any of these placements may get; it uses the share of the emptiest one. */
  readonly open: (placements: readonly string[]) => BodyAccount;
  /** The bytes that the bodies for a placement have. */
  readonly held: (placement: string) => number;
}

/** The memory of one body. */
export interface BodyAccount {
  /**
   * Waits until the body has `bytes` in all, at most the largest body's; false if `signal` is aborted before. Of those
   * that wait and fit, the one with the smallest `size` is first: its length, or what of it has arrived.
   */
  readonly reach: (bytes: number, size: number, signal: AbortSignal) => Promise<boolean>;
  /** Returns all bytes. It may be called repeatedly. */
  readonly free: () => void;
}

/** One body's bytes. */
interface Holder {
  readonly placement: string;
  bytes: number;
}

interface Waiting {
  readonly holder: Holder;
  readonly more: number;
  readonly size: number;
  readonly start: () => void;
}

/**
 * Room for `mostBytes` in all. All of it but one largest body is shared equally. The rest is for the body that waits
 * longest when its placement's share is full: so bodies that arrive in pieces never wait for each other for ever.
 */
export function makeBodyRoom(mostBytes: number, largestBody: number, placements: readonly string[]): BodyRoom {
  const share = Math.max(0, Math.floor((mostBytes - largestBody) / placements.length));
  const used = new Map(placements.map((placement) => [placement, 0]));
  const held = (placement: string): number => used.get(placement) ?? 0;
  const waiting: Waiting[] = [];
  /** The only body that has more than its placement's share had left. */
  let beyond: Holder | undefined;

  const fits = ({ holder, more }: Waiting): boolean => held(holder.placement) + more <= share;
  const mayGoBeyond = ({ holder, more }: Waiting): boolean =>
    (beyond === undefined || beyond === holder) && held(holder.placement) + more <= share + largestBody;

  function add(holder: Holder, bytes: number): void {
    holder.bytes += bytes;
    used.set(holder.placement, held(holder.placement) + bytes);
    if (beyond !== undefined && held(beyond.placement) <= share) beyond = undefined;
  }
  function startNext(): void {
    for (;;) {
      const [smallest] = waiting.filter(fits).sort((a, b) => a.size - b.size);
      const next = smallest ?? waiting.find(mayGoBeyond);
      if (next === undefined) return;
      waiting.splice(waiting.indexOf(next), 1);
      if (smallest === undefined) beyond = next.holder;
      add(next.holder, next.more);
      next.start();
    }
  }
  const wait = (holder: Holder, more: number, size: number, signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(one), 1);
        resolve(false);
      };
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve(true);
      };
      const one: Waiting = { holder, more, size, start };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(one);
      startNext();
    });

  return {
    held,
    open: (allowed) => {
      const [placement = ''] = [...allowed].sort((a, b) => held(a) - held(b));
      const holder: Holder = { placement, bytes: 0 };
      return {
        reach: async (bytes, size, signal) => {
          const more = bytes - holder.bytes;
          if (more <= 0) return true;
          return !signal.aborted && wait(holder, more, size, signal);
        },
        free: () => {
          add(holder, -holder.bytes);
          startNext();
        },
      };
    },
  };
}
