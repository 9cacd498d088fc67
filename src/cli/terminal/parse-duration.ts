const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const longestMs = 24 * 3_600_000;

/** `500ms`, `30s`, `2m`, `1h` as milliseconds; undefined for anything else, for nothing, and for more than a day. */
export function parseDuration(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,7})(ms|s|m|h)$/.exec(text);
  if (!match) return undefined;
  const durationMs = Number(match[1]) * (unitsMs[match[2] ?? ''] ?? Number.NaN);
  return durationMs <= longestMs ? durationMs : undefined;
}
