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

/** `735.2 GB`: a count of bytes as people read it, in decimal units. */
export function bytesText(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1_000 ** power).toFixed(1)} ${units[power - 1]}`;
}
