import type { LookupAddress } from 'node:dns';

/** Finds the addresses of a name, in the order in which they are to be tried. Rejects as `dns.lookup` does. */
export type LookUp = (host: string) => Promise<readonly LookupAddress[]>;

/** Another place for lookups, which takes as many as there are. Opened when the first one is full. */
export interface SpareLookUp {
  /** Settles like the first place; `lost` is called instead when no answer will ever come. */
  readonly ask: (host: string, settle: Settle) => void;
  /** Ends it; what was not answered stays without an answer. */
  readonly close: () => void;
}

/** What becomes of one name in the spare place. */
export interface Settle {
  readonly found: (addresses: readonly LookupAddress[]) => void;
  readonly failed: (error: Error) => void;
  readonly lost: () => void;
}

/** Where names are looked up. */
export interface LookUpPlaces {
  readonly lookUp: LookUp;
  /** How many lookups the first place really runs at once. More are never given to it. */
  readonly places: number;
  /** How long a name waits for a place before the spare one is opened. */
  readonly patienceMs: number;
  readonly openSpare: () => SpareLookUp;
}

interface Entry {
  readonly host: string;
  readonly settle: Settle;
  isRunning: boolean;
  isSpare: boolean;
}

/**
 * Looks names up so that one without an answer holds up no other. Node runs only two lookups of the system at once,
 * and the system may think about a dead name for half a minute. Each name is looked up once at a time.
 */
export function createLookUp(at: LookUpPlaces): LookUp {
  const asked = new Map<string, Promise<readonly LookupAddress[]>>();
  const entries = new Set<Entry>();
  let running = 0;
  let spare: SpareLookUp | undefined;
  let timer: NodeJS.Timeout | undefined;

  const isWaiting = (entry: Entry): boolean => !entry.isRunning && !entry.isSpare;
  const handOver = (): void => {
    timer = undefined;
    if (![...entries].some(isWaiting)) return;
    spare ??= at.openSpare();
    for (const entry of entries) {
      if (entry.isSpare) continue;
      entry.isSpare = true;
      spare.ask(entry.host, entry.settle);
    }
  };
  const run = (entry: Entry): void => {
    entry.isRunning = true;
    running += 1;
    const over = (): void => {
      running -= 1;
      advance();
    };
    void at.lookUp(entry.host).then(entry.settle.found, entry.settle.failed).then(over);
  };
  const advance = (): void => {
    for (const entry of [...entries].filter(isWaiting).slice(0, Math.max(0, at.places - running))) run(entry);
    if ([...entries].some(isWaiting)) timer ??= setTimeout(handOver, spare === undefined ? at.patienceMs : 0);
    if (entries.size > 0) return;
    clearTimeout(timer);
    timer = undefined;
    spare?.close();
    spare = undefined;
  };
  const add = (host: string): Promise<readonly LookupAddress[]> =>
    new Promise((resolve, reject) => {
      // The slower of two places may still answer when the name is long settled, and asked for anew.
      const once = (act: () => void): void => {
        if (!entries.delete(entry)) return;
        asked.delete(host);
        act();
        advance();
      };
      const settle: Settle = {
        found: (addresses) => once(() => resolve(addresses)),
        failed: (error) => once(() => reject(error)),
        lost: () => {
          spare = undefined;
          entry.isSpare = false;
          advance();
        },
      };
      const entry: Entry = { host, settle, isRunning: false, isSpare: false };
      entries.add(entry);
      advance();
    });
  return (host) => {
    const known = asked.get(host) ?? add(host);
    asked.set(host, known);
    return known;
  };
}
