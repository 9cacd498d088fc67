import type { DesiredWiredLimit } from '../../model/desired.ts';

const mebibyte = 2 ** 20;
/** What macOS itself needs beside the GPU; below it the Mac swaps or panics (bytes). */
const systemBytes = 8 * 2 ** 30;

/**
 * The value of `iogpu.wired_limit_mb` that the file wants; `auto` is the memory minus the larger of 8 GiB and 6.25 %.
 * @returns undefined when the file says nothing, or `auto` and the memory is unknown
 */
export function wantedWiredMegabytes(
  wanted: DesiredWiredLimit | undefined,
  memoryBytes: number | undefined,
): number | undefined {
  switch (wanted?.kind) {
    case undefined:
      return undefined;
    case 'default':
      return 0;
    case 'bytes':
      return Math.floor(wanted.bytes / mebibyte);
    case 'auto':
      return memoryBytes === undefined
        ? undefined
        : Math.floor((memoryBytes - Math.max(systemBytes, memoryBytes / 16)) / mebibyte);
  }
}

/** Whether the file gives the GPU more than this Mac can spare. */
export const isBeyondMemory = (wanted: DesiredWiredLimit | undefined, memoryBytes: number): boolean =>
  wanted?.kind === 'bytes' && wanted.bytes > memoryBytes - systemBytes;
