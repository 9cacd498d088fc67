import type { DesiredWiredLimit } from '../../model/desired.ts';
import type { MemoryBudget } from '../../model/fit/memory-fit.ts';
import { wantedWiredMegabytes } from './wired-megabytes.ts';

const gibibyte = 2 ** 30;
const mebibyte = 2 ** 20;

/**
 * What macOS lets the GPU wire by itself, as a share of the memory of at least so many GiB. Reported were 66.7 % with 16
 * and 32 GB, 75 % with 64 and 96 GB, 78.0 % with 48 GB and 475,136 MiB with 512 GB; between them the lower one is taken.
 *
 * @see runtimes: section 6.1, reports of llama.cpp and MLX users
 */
const usualShares: readonly (readonly [fromGibibytes: number, share: number])[] = [
  [512, 475_136 / (512 * 1_024)],
  [64, 0.75],
  [48, 0.75],
  [0, 2 / 3],
];

/** What is known of the memory of a node. */
export interface SeenMemory {
  readonly memoryBytes?: number;
  /** `iogpu.wired_limit_mb`, where somebody looked; 0 is macOS's own choice. */
  readonly wiredMegabytes?: number;
  /** What a runtime said that its GPU may use, in this boot session. */
  readonly reportedBytes?: number;
}

/**
 * How much the GPU of a node may use: what the file sets, since apply sets it before anything is started; else what the
 * node has; else what a runtime was told there, while nobody has set anything else; else what is usual for its size.
 * Undefined when its memory is unknown as well.
 */
export function memoryBudget(
  wanted: DesiredWiredLimit | undefined,
  { memoryBytes, wiredMegabytes, reportedBytes }: SeenMemory,
): MemoryBudget | undefined {
  const desired = wantedWiredMegabytes(wanted, memoryBytes);
  if (desired !== undefined && desired > 0) return { kind: 'desired', bytes: desired * mebibyte };
  if (desired === undefined && wiredMegabytes !== undefined && wiredMegabytes > 0) {
    return { kind: 'seen', bytes: wiredMegabytes * mebibyte };
  }
  if (memoryBytes === undefined) return undefined;
  // A limit that was set since, or that nobody could see, makes a report one of another time.
  const isOwnChoice = wiredMegabytes === 0 && reportedBytes !== undefined && reportedBytes <= memoryBytes;
  if (isOwnChoice) return { kind: 'reported', bytes: reportedBytes };
  const share = usualShares.find(([from]) => memoryBytes >= from * gibibyte)?.[1] ?? 2 / 3;
  return { kind: 'assumed', bytes: Math.floor(memoryBytes * share) };
}
