import type { FaultName } from '../../../src/sim/faults/faults.ts';

/**
 * Fields of `--json` that hold sentences: the guard drops a text, and keeps how many a list has. A field is named alone,
 * or after the one that holds it where the same name is data elsewhere. What is in no table is kept.
 */
export const sentences: ReadonlySet<string> = new Set([
  'action',
  // Why an endpoint is closed.
  'closed',
  'detail',
  'evidence',
  'for',
  'from',
  'hanging',
  'hint',
  'place',
  'reason',
  'says',
  'summary',
  'text',
  'title',
  'to',
]);

/** Fields with a word of a closed list, a name, or a phrase in place of it: the guard drops the phrase. */
export const phrases: ReadonlySet<string> = new Set(['first', 'sees', 'unknown']);

/** Fields that are dropped whatever they hold: contents of files that a plan writes, with a sentence for clients in one. */
export const unread: ReadonlySet<string> = new Set(['content']);

/** Of those above: data. A run of `history` is from a journal or a node. */
export const dataAfterAll: ReadonlySet<string> = new Set(['runs.from']);

/** Fields of which the value differs from run to run: the guard drops them. */
export const unsteady: ReadonlySet<string> = new Set([
  // Times.
  'at',
  'atEpochSeconds',
  'bootedAtEpochSeconds',
  'firstTokenMs',
  'lastMs',
  'ms',
  'offsetMs',
  'since',
  'sinceEpochSeconds',
  'totalMs',
  'uncertaintyMs',
  // Rates.
  'generationSpeed',
  'lastPerSecond',
  'promptSpeed',
  'tokensPerJoule',
  'totalSpeed',
  'watts',
  // What a run or the simulator makes up.
  'beat',
  'bootSession',
  'bus',
  'by',
  'configHash',
  'controller',
  'freeBytes',
  'guid',
  'gids.index',
  'hash',
  'owner',
  'pid',
  'run',
  'serial',
  'startedIn',
  'fields.start',
  'fields.token',
  // Logs.
  'lines',
]);

/** Lists of which the order differs from run to run, since their parts are done or told at once: the guard sorts them. */
export const unordered: ReadonlySet<string> = new Set([
  // Steps of a journal, as they ended.
  'runs.steps',
  // Addresses of an RDMA device: macOS, too, gives them in another order from Mac to Mac.
  'value.gids',
]);

/** What differs from run to run within a text that is kept. */
export const unsteadyTexts: readonly (readonly [RegExp, string])[] = [
  [/SHA256:[\w+/]{43}/g, 'FINGERPRINT'],
  [/\b[\dA-F]{8}(?:-[\dA-F]{4}){3}-[\dA-F]{12}\b/gi, 'UUID'],
  [/\b[\da-f]{2}(?::[\da-f]{2}){5}\b/g, 'MAC'],
  [/\bfe80:(?::[\da-f]{1,4}){4}\b/g, 'LINK-LOCAL'],
  [/\b169\.254\.\d{1,3}\.\d{1,3}\b/g, 'LINK-LOCAL'],
  [/(?<=127\.0\.0\.1\]?:)\d{4,5}\b/g, 'PORT'],
  [/\b[\da-f]{16,64}\b/g, 'DIGEST'],
  [/(?<=-)[\da-f]{8}(?=\/)/g, 'DIGEST'],
  [/\/\S*\/mw-cli-\w+(?=\/)/g, '/PLACE'],
  [/(?<=\bpanic-(?:full|base\+socd)-)[\d-]+(?=\.)/g, 'TIME'],
  [/\b20\d{6}T\d{6}-[\da-f]{6}\b/g, 'RUN'],
  [/\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, 'TIME'],
  // Commands that are shown are to lose it or get it: the one thing that may change on purpose.
  [/ --sim\b/g, ''],
];

/** What is not compared, as the start of its name, and why it differs from run to run. */
export const uncompared: Readonly<Partial<Record<FaultName, { readonly names: RegExp; readonly reason: string }>>> = {
  'tcp-load-panic': {
    names: /^(?:all reboot$|all-but-one )/,
    reason: 'the Mac panics while a mesh is loaded: before or after a look of the same run',
  },
};
