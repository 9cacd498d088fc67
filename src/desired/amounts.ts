const gibibyte = 2 ** 30;
const gigabyte = 1e9;

function parts(text: string): { readonly amount: number; readonly unit: string } | undefined {
  const match = /^([1-9][0-9]{0,5})(GB|GiB)$/.exec(text);
  return match === null ? undefined : { amount: Number(match[1]), unit: match[2] ?? '' };
}

/** Bytes of a size: `GB` is 10^9, `GiB` is 2^30. Undefined for anything else. */
export function sizeBytes(text: string): number | undefined {
  const size = parts(text);
  return size === undefined ? undefined : size.amount * (size.unit === 'GiB' ? gibibyte : gigabyte);
}

/** Bytes of Apple's label for memory, where `512GB` means 512 GiB: it is what `hw.memsize` prints. */
export function memoryLabelBytes(text: string): number | undefined {
  const size = parts(text);
  return size === undefined ? undefined : size.amount * gibibyte;
}
/** Tokens of `128k` (131,072) or `4096`; undefined for anything else. */
export function contextTokens(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,8})(k?)$/.exec(text);
  return match === null ? undefined : Number(match[1]) * (match[2] === 'k' ? 1_024 : 1);
}

/** Milliseconds of `30s` or `2m`; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,3})([sm])$/.exec(text);
  return match === null ? undefined : Number(match[1]) * (match[2] === 'm' ? 60_000 : 1_000);
}
