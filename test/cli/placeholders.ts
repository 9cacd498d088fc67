import { userInfo } from 'node:os';
import type { Place } from './place.ts';

/** `text` in as many columns as `found`, so that tables stay aligned. */
const sameWidth =
  (text: string) =>
  (found: string): string =>
    text.padEnd(found.length, '.').slice(0, Math.max(found.length, text.length));

const account = userInfo().username.replaceAll(/[^\w]/g, '\\$&');

const progress = `(?:${[
  '[a-z]+(?: [a-z]+)*(?:: \\d+ of \\d+ done after|,) \\d+ s(?:, waiting for|:) [^\\r\\n]*',
  'starting \\d+ simulated Macs?: \\d+ s',
  'still running: [^\\r\\n]*',
].join('|')})`;
const lines = new RegExp(`^${progress}\\n`, 'gm');
// biome rejects control characters in an expression, so this one is built from text.
const rewritten = new RegExp(`\\r${'\\u001b'}\\[K(?:${progress})?`, 'g');

/** A text without progress lines, which only slow computers print. */
export const withoutProgress = (text: string): string => text.replace(lines, '').replace(rewritten, '');

/** Patterns of values that differ from run to run, and their placeholders. */
const volatile: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/SHA256:[A-Za-z0-9+/]{43}/g, sameWidth('SHA256:FINGERPRINT')],
  [/AAAAC3NzaC1lZDI1NTE5[A-Za-z0-9+/=]+/g, sameWidth('BASE64-OF-A-KEY')],
  [/(?<=127\.0\.0\.1\]:)\d{4,5}/g, 'PORT'],
  [/(?<=\bport )\d{4,5}\b/g, 'PORT'],
  [/(?<=-p )\d{4,5}\b/g, 'PORT'],
  [/(?<="port": )\d{4,5}\b/g, '0'],
  [/(?<="pid": )\d+/g, '0'],
  [/\b[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}\b/g, sameWidth('UUID')],
  [/(?<=\bbus )[0-9A-F]{8}\b/g, sameWidth('BUS')],
  [/(?<=\bserial )[A-Z0-9]{10,12}\b/g, sameWidth('SERIAL')],
  [/\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+Z)?)?/g, sameWidth('DATE')],
  [/(?<=\bpanic-(?:full|base\+socd)-)[\d-]+(?=\.)/g, sameWidth('DATE')],
  [/(?<=\bGID )[12](?= is)/g, 'N'],
  [/\b169\.254\.\d{1,3}\.\d{1,3}\b/g, '169.254.X.Y'],
  [/[0-9.]+ TB of 8 TB free/g, 'N TB of 8 TB free'],
  [/\((?:at least )?[0-9.]+ TB free\)/g, '(N TB free)'],
  [new RegExp(`(?<=--user |accepted for |refused for |, as )${account}\\b|\\b${account}(?=@127)`, 'g'), 'ACCOUNT'],
  [/(?<=^ {2}clock +)\S.*$/gm, 'CLOCK'],
  [/-[0-9a-f]{8}(?=\/)/g, '-DIGEST'],
];

/** A text with placeholders for paths, ports, times and other values that differ from run to run. */
export function stable(place: Place, text: string): string {
  const known = withoutProgress(text)
    .replaceAll(place.folder, '/rack')
    .replaceAll(place.state, '/state')
    .replaceAll(place.root, '/place');
  return volatile.reduce(
    (shown, [pattern, stand]) =>
      typeof stand === 'string' ? shown.replace(pattern, stand) : shown.replace(pattern, stand),
    known,
  );
}
