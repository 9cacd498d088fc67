/** `735.2 GB`: a count of bytes as people read it, in decimal units. */
export function bytesText(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1_000 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** `131072` as `128k`: tokens as the file has them. */
export const tokensText = (tokens: number): string => (tokens % 1_024 === 0 ? `${tokens / 1_024}k` : String(tokens));
