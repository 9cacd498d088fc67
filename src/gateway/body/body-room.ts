import { waitInLine } from '../wait-in-line.ts';

/** Memory for request bodies, shared among the placements. */
export interface BodyRoom {
  /**
   * Memory for a body that may go to any of these placements; it counts against the placement with the most free
   * memory.
   */
  readonly open: (placements: readonly string[]) => BodyAccount;
  /** How much memory a placement's bodies use. */
  readonly held: (placement: string) => number;
}

export interface BodyAccount {
  /**
   * Waits until the body has `bytes` in total, at most as many as the largest body; false if `signal` is aborted first.
   * Among the waiting bodies that fit, the smallest `size` goes first: a body's length, or the bytes that have arrived.
   */
  readonly reach: (bytes: number, size: number, signal: AbortSignal) => Promise<boolean>;
  /** Returns all of its memory. May be called repeatedly. */
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
 * Room for `mostBytes` in total. One part is as large as the largest body; the placements share the rest equally. If no
 * waiting body fits into its placement's share, the body that has waited longest gets that part, so bodies never wait
 * for each other forever.
 */
export function makeBodyRoom(mostBytes: number, largestBody: number, placements: readonly string[]): BodyRoom {
  const share = Math.max(0, Math.floor((mostBytes - largestBody) / placements.length));
  const used = new Map(placements.map((placement) => [placement, 0]));
  const held = (placement: string): number => used.get(placement) ?? 0;
  const waiting: Waiting[] = [];
  /** The only body that may exceed its placement's share. */
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
