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
