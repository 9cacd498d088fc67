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
