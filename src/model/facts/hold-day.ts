const dayMs = 86_400_000;

/**
 * Whether a day such as `2026-12-01`, in UTC, has ended by this time; false for a text that is no day.
 *
 * @example
 * isDayOver('2026-12-01', Date.UTC(2026, 11, 1, 23, 59)) // false
 */
export function isDayOver(day: string, nowEpochMs: number): boolean {
  const begin = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return nowEpochMs >= begin + dayMs;
}

/** The day of a time, in UTC: `2026-12-01`. */
export const dayOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);
