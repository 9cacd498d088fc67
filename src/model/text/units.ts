import type { DesiredPlacement } from '../desired.ts';

/** Formats bytes in decimal units: `735.2 GB`. */
export function bytesText(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1_000 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** Formats tokens as in the file: `128k` for 131072. */
export const tokensText = (tokens: number): string => (tokens % 1_024 === 0 ? `${tokens / 1_024}k` : String(tokens));

/** The reverse of {@link tokensText}; NaN for other texts. */
export const tokensIn = (text: string): number =>
  text.endsWith('k') ? Number(text.slice(0, -1)) * 1_024 : Number(text);

const dayMs = 86_400_000;

/**
 * True if a day in UTC, such as `2026-12-01`, has ended by this time; false for an invalid day.
 *
 * @example
 * isDayOver('2026-12-01', Date.UTC(2026, 11, 1, 23, 59)) // false
 */
export function isDayOver(day: string, nowEpochMs: number): boolean {
  const begin = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return nowEpochMs >= begin + dayMs;
}

/** Formats a time's day in UTC: `2026-12-01`. */
export const dayOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

/** A placement's nodes and context: `studio-1, studio-2, context 64k`. */
export const layoutText = ({ nodes, contextTokens }: Pick<DesiredPlacement, 'nodes' | 'contextTokens'>): string =>
  `${nodes.join(', ')}, context ${tokensText(contextTokens)}`;

/** Formats a time as `2026-09-26 06:12:40 UTC`. Years before 1000 have no leading zeros. */
export function utcText(epochSeconds: number): string {
  const date = new Date(epochSeconds * 1_000);
  if (!Number.isInteger(epochSeconds) || Number.isNaN(date.getTime())) return 'at an unknown time';
  return date
    .toISOString()
    .replace(/^\+?0*/, '')
    .replace('T', ' ')
    .replace('.000Z', ' UTC');
}

export const gibibyte = 2 ** 30;
export const mebibyte = 2 ** 20;

const decimals = (value: number): string => String(Number(value.toFixed(value < 10 ? 1 : 0)));

/** Formats memory as Apple labels it: 2^39 bytes are `512 GB`. Sizes that are not whole GiB are shown in `GiB`. */
export function memoryText(bytes: number): string {
  const inGibibytes = bytes / gibibyte;
  return Number.isInteger(inGibibytes) ? `${inGibibytes} GB` : `${inGibibytes.toFixed(1)} GiB`;
}

/** Formats disk space in decimal units, like Apple: `7.9 TB`, `494 GB`, `12 MB`. */
export function diskText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${decimals(bytes / 1000 ** power)} ${units[power] ?? 'B'}`;
}

/** Formats a speed: `80 Gb/s`. */
export const speedText = (bitsPerSecond: number): string => `${decimals(bitsPerSecond / 1e9)} Gb/s`;

/** Three significant digits: `8.05`, `25.5`, `102`. */
export function digitsText(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

/** Formats a latency: `25.5 µs`, `1.45 ms`. */
export const latencyText = (ns: number): string =>
  ns < 1e6 ? `${digitsText(ns / 1e3)} µs` : `${digitsText(ns / 1e6)} ms`;

/** Formats a rate exactly: `8.05 GB/s`, `94.1 MB/s`. */
export const rateText = (bytesPerSecond: number): string =>
  bytesPerSecond < 1e9 ? `${digitsText(bytesPerSecond / 1e6)} MB/s` : `${digitsText(bytesPerSecond / 1e9)} GB/s`;

/** Formats a duration without its sign: `250 ms`, `4.2 s`, `12 min`, `3 h`, `2 days`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.abs(milliseconds) / 1000;
  const steps = [
    { below: 1, each: 0.001, unit: 'ms' },
    { below: 120, each: 1, unit: 's' },
    { below: 7_200, each: 60, unit: 'min' },
    { below: 172_800, each: 3_600, unit: 'h' },
  ];
  const step = steps.find(({ below }) => seconds < below) ?? { each: 86_400, unit: 'days' };
  return `${decimals(seconds / step.each)} ${step.unit}`;
}
