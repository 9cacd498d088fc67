import { escapeLines, escapeText } from '../diagnostics/escape.ts';
import { jsonObject, parsedJson } from '../model/digest.ts';
import type { BundleDocument } from '../model/documents.generated.ts';
import { counted, hang, type Page, padEnd, pageText, titleLines } from './page.ts';

/** The last lines of one rank's log, oldest first. */
export interface RankLog {
  readonly placement: string;
  readonly node: string;
  readonly lines: readonly string[];
  /** The Mac's clock minus this computer's; 0 if they agree. */
  readonly clockAheadMs: number;
}

/** Matches the time at the start of a line: `2026-11-28 12:56:43,693` from Python, `[ 03:22:11.1234PM |` from exo. */
const stamp = /^[\s[]*(?:(\d{4}-\d\d-\d\d)[ T])?(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?([AP]M)?/;

const dayMs = 86_400_000;

/** The time of a line, as if all Macs were in UTC; without a day, `next` or the last such time before it. */
function timeOf(line: string, day: string, next: number): number | undefined {
  const [, date, hours, minutes, seconds, fraction = '0', half] = stamp.exec(line) ?? [];
  if (hours === undefined || (date === undefined && half === undefined)) return undefined;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === 'PM' ? 12 : 0);
  const inDay = ((hour * 60 + Number(minutes)) * 60 + Number(`${seconds}.${fraction}`)) * 1_000;
  const time = Date.parse(`${date ?? day}T00:00:00Z`) + inDay;
  return date === undefined ? time - Math.max(0, Math.ceil((time - next) / dayMs)) * dayMs : time;
}

/** The lines of one log are in order. One without a time belongs to the line before it; a log without any comes last. */
function timesOf({ lines, clockAheadMs }: RankLog, day: string): readonly number[] {
  let next = Number.MAX_VALUE;
  const read = lines.toReversed().map((line) => {
    const time = timeOf(line, day, next);
    next = Math.min(next, time ?? next);
    return time === undefined ? undefined : next;
  });
  let last = next;
  return read.toReversed().map((time) => {
    last = time ?? last;
    return last - clockAheadMs;
  });
}

const longestLine = 2_000;

/** The last lines that fit into this many bytes, each with its rank. */
function lastLines({ placement, node, lines }: RankLog, mostBytes: number): readonly string[] {
  const texts = lines.map((line) => `${placement} ${node} | ${escapeLines(line.slice(0, longestLine))}`);
  let left = mostBytes;
  const first = texts.findLastIndex((text) => {
    left -= Buffer.byteLength(text) + 1;
    return left < 0;
  });
  return texts.slice(first + 1);
}

/**
 * The lines of all ranks in time order, each rank's own lines in their order. Every rank gets the same share.
 * @param day the day of the incident, such as `2026-11-28`, for times without a day
 */
export function logsInTimeOrder(logs: readonly RankLog[], day: string, mostBytes = 1_048_576): string {
  const all = logs.flatMap((log) => {
    const texts = lastLines(log, mostBytes / logs.length);
    const times = timesOf(log, day).slice(log.lines.length - texts.length);
    return texts.map((text, at) => ({ text, time: times[at] ?? 0 }));
  });
  return all
    .sort((one, other) => one.time - other.time)
    .map(({ text }) => `${text}\n`)
    .join('');
}

/** The evidence of one incident, as it is saved. It contains no secrets. */
export interface Evidence {
  /** When it was saved, and a random suffix: `20261130T031500-5f3a9c`. */
  readonly id: string;
  readonly cluster: string;
  readonly version: string;
  /** The state of each placement, and why, by name. */
  readonly placements: Readonly<Record<string, string>>;
  /** Texts, or JSON documents, by file name. */
  readonly files: Readonly<Record<string, string | object>>;
  /** All Macs in the file, and those that could not be read completely. */
  readonly nodes: readonly string[];
  readonly unread: readonly string[];
  readonly diagnostics: BundleDocument['diagnostics'];
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isListOf = (is: (one: unknown) => boolean, value: unknown): boolean => Array.isArray(value) && value.every(is);
const isMapOf = (is: (one: unknown) => boolean, value: unknown): boolean =>
  Object.values(jsonObject(value) ?? [undefined]).every(is);

/** Whether a field of a saved incident has the shape that `bundle` needs. */
const isShaped: { readonly [K in keyof Evidence]: (value: unknown) => boolean } = {
  ...{ id: isText, cluster: isText, version: isText },
  placements: (value) => isMapOf(isText, value),
  files: (value) => isMapOf((one) => isText(one) || jsonObject(one) !== undefined, value),
  nodes: (value) => isListOf(isText, value),
  unread: (value) => isListOf(isText, value),
  diagnostics: (value) => isListOf((one) => isText(jsonObject(one)?.['detail']), value),
};

/** Parses a saved incident; undefined if the text is damaged. */
export function parseEvidence(text: string): Evidence | undefined {
  const document = jsonObject(parsedJson(text));
  const isWhole = Object.entries(isShaped).every(([name, is]) => is(document?.[name]));
  return isWhole ? (document as unknown as Evidence) : undefined;
}

const contents: Readonly<Record<string, string>> = {
  'doctor.json': 'causes and repairs, as `doctor --json` prints them',
  'facts.json': 'all facts about each Mac: versions, memory, counters of links and of the kernel',
  'logs.txt': 'the last log lines of all ranks, in time order; differences between clocks are corrected',
  'stacks.txt': 'where the processes of silent ranks wait (`sample` for one second)',
  'cluster.lock': 'versions of runtimes and models',
};

/**
 * What an archive contains, what could not be read, and what to check before it is published.
 * @param path shown on a line of its own that is never broken, so that it can be copied
 */
export function evidenceText(
  head: string,
  { placements, files, diagnostics }: Evidence,
  page: Page,
  path?: string,
): string {
  const row = (name: string, text: string): readonly string[] => hang(padEnd(`  ${name}`, 16), text, page.columns);
  const runs = Object.keys(files).filter((name) => name.startsWith('journal/')).length;
  return pageText([
    [
      ...titleLines([head], page.isSimulated ? 'simulated' : '', page),
      ...(path === undefined ? [] : [`  ${escapeText(path)}`]),
    ],
    Object.entries(placements).flatMap(([name, state]) => hang('  ', escapeText(`${name}: ${state}`), page.columns)),
    [
      ...Object.entries(contents).flatMap(([name, text]) => (name in files ? row(name, text) : [])),
      ...(runs === 0
        ? []
        : row('journal/', `what ${counted(runs, 'run')} changed, from one day before to one day after`)),
    ],
    diagnostics.length === 0
      ? []
      : [
          'Not read:',
          ...diagnostics.flatMap(({ subject = 'rack', detail }) =>
            hang('  ', escapeText(`${subject}: ${detail}`), page.columns),
          ),
        ],
    hang('', secretsText, page.columns),
  ]);
}

const secretsText =
  'Passwords, keys and tokens are replaced with ********. Host names, addresses and serial numbers are still in it, so read it before you publish it.';
