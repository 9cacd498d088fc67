import type { FaultName } from '../../../src/sim/faults/faults.ts';

/**
 * Fields of `--json` with sentences: the guard drops a text, and keeps the length of a list. If the same name is data
 * elsewhere, the name of the parent field precedes it. Fields in no table are kept.
 */
export const sentences: ReadonlySet<string> = new Set([
  'action',
  // Why an endpoint is closed.
  'closed',
  'complaint',
  'detail',
  'evidence',
  'for',
  'from',
  'hanging',
  'hint',
  'undo',
  'place',
  'reason',
  'says',
  'summary',
  'text',
  'title',
  'to',
]);

/** Fields with a keyword, a name or a phrase: the guard drops phrases. */
export const phrases: ReadonlySet<string> = new Set(['first', 'sees', 'unknown']);

/**
 * Fields that are always dropped: contents of files that a plan writes, since one has a sentence for clients; and fields
 * that are newer than the golden files and follow from others, namely kinds of changes and the placements that serve.
 */
export const unread: ReadonlySet<string> = new Set(['content', 'changes.kind', 'serving']);

/** Exceptions that are data: a run of `history` is from a journal or a node. */
export const dataAfterAll: ReadonlySet<string> = new Set(['runs.from']);

/** Fields whose values differ from run to run: the guard drops them. */
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
  // Values that a run or the simulator generates.
  'heartbeat',
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
  'pids',
  'run',
  'serial',
  'startedIn',
  // Process numbers of suspended processes, in the fact.
  'value.suspended',
  'fields.start',
  'fields.token',
  // Logs.
  'lines',
]);

/** Lists whose order differs from run to run, since their parts run in parallel: the guard sorts them. */
export const unordered: ReadonlySet<string> = new Set([
  // Steps of a journal, in the order in which they ended.
  'runs.steps',
  // Addresses of an RDMA device: their order also differs on real Macs.
  'value.gids',
]);

/** Patterns that differ from run to run within kept texts. */
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
  // Shown commands may gain or lose this option; no other change is allowed.
  [/ --sim\b/g, ''],
];

/** Recordings that are not compared, by their names, and why they differ from run to run. */
export const uncompared: Readonly<Partial<Record<FaultName, { readonly names: RegExp; readonly reason: string }>>> = {
  'connection-drop': {
    names: / secrets$/,
    reason: 'the answer is about as long as what the connection carries: it broke in two of three recordings',
  },
  'local-network-denied': {
    names: /^all status$/,
    reason: 'the first request makes a rank complain: before or after the same observation reads its log',
  },
  'tcp-load-panic': {
    names: /^(?:all (?:apply|reboot|status)$|all-but-one )/,
    reason: 'the Mac panics while a mesh is loaded or asked: before or after an observation of the same run',
  },
};
