import { waitInLine } from '../wait-in-line.ts';

/** Memory for request bodies, shared by all placements. */
export interface BodyRoom {
  /** Opens an account for a body that may go to any of these placements; charges the one with the most free memory. */
  readonly open: (placements: readonly string[]) => BodyAccount;
  /** The number of bytes that a placement's request bodies use. */
  readonly held: (placement: string) => number;
}

export interface BodyAccount {
  /**
   * Waits until a total of `bytes` is reserved for the body; false if `signal` aborts first. `bytes` must not exceed
   * the maximum body size. Among the waiting bodies that fit, the one with the smallest `size` goes first; `size` is
   * the body's length or, if the length is unknown, the number of bytes received.
   */
  readonly reach: (bytes: number, size: number, signal: AbortSignal) => Promise<boolean>;
  /** Frees all of the body's memory. May be called more than once. */
  readonly free: () => void;
}

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
 * Manages `mostBytes` of memory. A reserve is as large as the largest possible body; the placements share the rest
 * equally. If no waiting body fits into its placement's share, the body that has waited longest gets the reserve, so
 * bodies never wait for each other forever.
 */
export function makeBodyRoom(mostBytes: number, largestBody: number, placements: readonly string[]): BodyRoom {
  const share = Math.max(0, Math.floor((mostBytes - largestBody) / placements.length));
  const used = new Map(placements.map((placement) => [placement, 0]));
  const held = (placement: string): number => used.get(placement) ?? 0;
  const waiting: Waiting[] = [];
  /** The only body that may currently exceed its placement's share. */
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
  async function wait(body: Omit<Waiting, 'start'>, signal: AbortSignal): Promise<boolean> {
    const turn = waitInLine(
      waiting,
      signal,
      (start: (isReached: true) => void): Waiting => ({
        ...body,
        start: () => start(true),
      }),
    );
    startNext();
    return (await turn) === true;
  }

  return {
    held,
    open: (allowed) => {
      const [placement = ''] = [...allowed].sort((a, b) => held(a) - held(b));
      const holder: Holder = { placement, bytes: 0 };
      return {
        reach: async (bytes, size, signal) => {
          const more = bytes - holder.bytes;
          if (more <= 0) return true;
          return !signal.aborted && wait({ holder, more, size }, signal);
        },
        free: () => {
          add(holder, -holder.bytes);
          startNext();
        },
      };
    },
  };
}
