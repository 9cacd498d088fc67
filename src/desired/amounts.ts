import type { DesiredWiredLimit } from '../model/desired.ts';
import { gibibyte, mebibyte } from '../model/text/units.ts';

const gigabyte = 1e9;

function parts(text: string): { readonly amount: number; readonly unit: string } | undefined {
  const match = /^([1-9][0-9]{0,5})(GB|GiB)$/.exec(text);
  return match === null ? undefined : { amount: Number(match[1]), unit: match[2] ?? '' };
}

/** Parses a size into bytes (`GB` is 10^9, `GiB` is 2^30); returns undefined for any other text. */
export function sizeBytes(text: string): number | undefined {
  const size = parts(text);
  return size === undefined ? undefined : size.amount * (size.unit === 'GiB' ? gibibyte : gigabyte);
}

/** Parses Apple's label for memory into bytes. Its `512GB` means 512 GiB, the value of `hw.memsize`. */
export function memoryLabelBytes(text: string): number | undefined {
  const size = parts(text);
  return size === undefined ? undefined : size.amount * gibibyte;
}

/** Parses a number of tokens, `128k` (131,072) or `4096`; returns undefined for any other text. */
export function contextTokens(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,8})(k?)$/.exec(text);
  return match === null ? undefined : Number(match[1]) * (match[2] === 'k' ? 1_024 : 1);
}

/** Parses `30s` or `2m` into milliseconds; returns undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,3})([sm])$/.exec(text);
  return match === null ? undefined : Number(match[1]) * (match[2] === 'm' ? 60_000 : 1_000);
}

/** The memory that macOS needs in addition to the GPU's, in bytes. With less, the Mac swaps or panics. */
export const systemBytes = 8 * gibibyte;

/**
 * The desired value of `iogpu.wired_limit_mb`; `auto` is the memory minus the larger of 8 GiB and 6.25 %.
 * @returns undefined if the file does not set the limit, or if it sets `auto` and the memory is unknown
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

/** True if the file gives the GPU more memory than this Mac can spare. */
export const isBeyondMemory = (wanted: DesiredWiredLimit | undefined, memoryBytes: number): boolean =>
  wanted?.kind === 'bytes' && wanted.bytes > memoryBytes - systemBytes;
