import type { Baseline, BaselineRecord, NodeRollback, StoppedDaemon, Traces } from '../../model/facts/node-records.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled } from '../answers/read-answer.ts';
import {
  exitOfListHead,
  isHoldHead,
  isKeeperHead,
  isLeaseHead,
  keyOfBaselineHead,
  keyOfJobHead,
  labelOfForeignHead,
  type NodeRecord,
  readFields,
  readRecords,
  stateOfRollbackHead,
} from '../answers/records.ts';

/** A seal that was found on the node: its id or folder, and the fields of its file. */
export interface FoundSeal {
  readonly id: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** What a tool said of several files or trees: how it ended, and its lines. Absent when it was not asked. */
export interface SealList {
  readonly exit: number;
  readonly lines: readonly string[];
}

/** The records of the probe `kept-files`. */
export interface KeptSeals {
  readonly files: readonly FoundSeal[];
  readonly trees: readonly FoundSeal[];
  /** Names of staging folders, `model-kimi-0123456789abcdef`. */
  readonly staged: readonly string[];
  readonly sums?: SealList;
  readonly modes?: SealList;
  readonly counts?: SealList;
}

const listWords = ['sums', 'modes', 'counts'] as const;

/** Reads everything that the probe printed; garbled when a record is of no known kind or comes twice. */
export function readKeptSeals(answer: Answer | undefined): Known<KeptSeals> {
  const records = readRecords(answer);
  if (records.kind === 'unknown') return records;
  const files: FoundSeal[] = [];
  const trees: FoundSeal[] = [];
  const staged: string[] = [];
  const lists = new Map<string, SealList>();
  for (const record of records.value) {
    const word = listWords.find((one) => exitOfListHead(record.head, one) !== undefined);
    if (word !== undefined) {
      if (lists.has(word)) return garbled(answer, `printed two lists of ${word}`);
      lists.set(word, { exit: exitOfListHead(record.head, word) ?? 0, lines: record.lines });
      continue;
    }
    const folder = stagedFolder(record);
    if (folder !== undefined) {
      staged.push(folder);
      continue;
    }
    const seal = sealOf(record);
    if (seal === undefined) return garbled(answer, 'printed a record that is no seal');
    (seal.kind === 'file' ? files : trees).push(seal);
  }
  const ids = [...[...files, ...trees].map(({ id }) => id), ...staged];
  if (new Set(ids).size !== ids.length) return garbled(answer, 'printed one seal twice');
  return known({ files, trees, staged, ...Object.fromEntries(lists) });
}

const stagedFolder = ({ head, lines }: NodeRecord): string | undefined =>
  lines.length > 0 ? undefined : /^staged ((?:runtime|model)-[A-Za-z0-9._-]{1,255}-[0-9a-f]{16})$/.exec(head)?.[1];

function sealOf({ head, lines }: NodeRecord): (FoundSeal & { readonly kind: 'file' | 'tree' }) | undefined {
  const [, fileId] = /^file ([0-9a-f]{16})$/.exec(head) ?? [];
  const [, treeId] = /^tree ((?:runtimes|models)\/[A-Za-z0-9._-]{1,255}\/[0-9a-f]{16})$/.exec(head) ?? [];
  const fields = readFields(lines);
  if (fields === undefined) return undefined;
  if (fileId !== undefined) return { kind: 'file', id: fileId, fields };
  return treeId === undefined ? undefined : { kind: 'tree', id: treeId, fields };
}

/** A list that a tool should have printed; `what` completes "… could not be …". */
export function listOr(list: SealList | undefined, what: string): Known<readonly string[]> {
  if (list === undefined) return unknown('failed', `${what} were not looked at.`);
  return list.exit === 0 ? known(list.lines) : unknown('failed', `Looking at ${what} ended with ${list.exit}.`);
}

/** A process that ps found under the number of a job. */
export interface JobProcess {
  readonly pid: string;
  readonly command: string;
}

/** The records of the probe `kept-records`. */
interface Kept {
  readonly jobs: readonly { readonly key: string; readonly fields: Readonly<Record<string, string>> }[];
  readonly leases: readonly { readonly fields: Readonly<Record<string, string>> }[];
  readonly holds: readonly { readonly fields: Readonly<Record<string, string>> }[];
  readonly rollbacks: readonly NodeRollback[];
  /** `last` change of the keeper, `refused` where macOS let nobody change the network over SSH; empty without either. */
  readonly keeper: Readonly<Record<string, string>>;
  readonly baseline: Baseline;
  readonly traces: Traces;
  /** Of unfinished jobs; unknown when ps failed. */
  readonly processes: Known<readonly JobProcess[]>;
}

/** Reads everything that the probe printed; garbled when a record is of no known kind or comes twice. */
export function readKept(answer: Answer | undefined): Known<Kept> {
  const records = readRecords(answer);
  if (records.kind === 'unknown') return records;
  const before = readKeptBefore(records.value);
  if (before === undefined) return garbled(answer, 'printed what was there before so that it cannot be read');
  const { others, ...earlier } = before;
  const jobs: Kept['jobs'][number][] = [];
  const leases: Kept['leases'][number][] = [];
  const holds: Kept['holds'][number][] = [];
  const rollbacks: NodeRollback[] = [];
  const keepers: Kept['keeper'][] = [];
  let processes: Known<readonly JobProcess[]> | undefined;
  for (const { head, lines } of others) {
    const exit = exitOfListHead(head, 'processes');
    if (exit !== undefined && processes === undefined) {
      processes = processesOf(exit, lines);
      continue;
    }
    const key = keyOfJobHead(head);
    const fields = readFields(lines);
    const state = stateOfRollbackHead(head);
    const isOne = isLeaseHead(head) || isKeeperHead(head) || isHoldHead(head);
    if (key === undefined && state === undefined && !isOne)
      return garbled(answer, 'printed a record that is neither job, lease, hold, rollback nor keeper');
    if (fields === undefined) return garbled(answer, `printed fields of ${head} that cannot be read`);
    if (key !== undefined) jobs.push({ key, fields });
    else if (state !== undefined) rollbacks.push({ state, fields });
    else if (isKeeperHead(head)) keepers.push(fields);
    else if (isHoldHead(head)) holds.push({ fields });
    else leases.push({ fields });
  }
  if (keepers.length > 1) return garbled(answer, 'printed more than one keeper');
  if (holds.length > 1) return garbled(answer, 'printed more than one hold');
  if (leases.length > 1) return garbled(answer, 'printed more than one lease');
  if (new Set(rollbacks.map(({ state }) => state)).size < rollbacks.length)
    return garbled(answer, 'printed one rollback twice');
  const isUnambiguous = new Set(jobs.map(({ key }) => key)).size === jobs.length;
  if (!isUnambiguous) return garbled(answer, 'printed one job twice');
  return known({
    jobs,
    leases,
    holds,
    rollbacks,
    keeper: keepers[0] ?? {},
    ...earlier,
    processes: processes ?? unknown('failed', 'Nobody looked for the processes of jobs.'),
  });
}

/** ps ends with 1 when none of the numbers is a process; whatever it prints of others is not about jobs. */
function processesOf(exit: number, lines: readonly string[]): Known<readonly JobProcess[]> {
  if (exit > 1) return unknown('failed', `ps ended with ${exit}.`);
  const found = lines.map((line) => /^ *(\d{1,10}) +(\S.*)$/.exec(line));
  if (found.includes(null)) return unknown('garbled', 'ps printed a line that is no process.');
  return known(found.map((match) => ({ pid: match?.[1] ?? '', command: match?.[2] ?? '' })));
}

/** What the records say of the node as it was before, and as it will be without meshwright; and the other records. */
interface KeptBefore {
  readonly baseline: Baseline;
  readonly traces: Traces;
  readonly others: readonly NodeRecord[];
}

const noTraces: Traces = { hasFolder: false, trees: 'none', hasSudoers: false, hasKey: false };

const isTreesWord = (word: string): word is Traces['trees'] => ['none', 'theirs', 'models', 'some'].includes(word);

function tracesOf(lines: readonly string[]): Traces | undefined {
  const fields = readFields(lines);
  const { trees = 'none' } = fields ?? {};
  if (fields === undefined || !isTreesWord(trees)) return undefined;
  const has = (key: string): boolean => fields[key] === 'yes';
  return { hasFolder: has('folder'), trees, hasSudoers: has('sudoers'), hasKey: has('key') };
}

/** Takes them out of all records; undefined when one of them cannot be read or comes twice. */
function readKeptBefore(records: readonly NodeRecord[]): KeptBefore | undefined {
  const values: BaselineRecord[] = [];
  const daemons: StoppedDaemon[] = [];
  const others: NodeRecord[] = [];
  const traces: (Traces | undefined)[] = [];
  for (const record of records) {
    const { head, lines } = record;
    const key = keyOfBaselineHead(head);
    const label = labelOfForeignHead(head);
    if (key !== undefined) values.push(lines.length === 0 ? { key } : { key, text: lines.join('\n') });
    else if (label !== undefined)
      daemons.push({ label, wasLoaded: lines.includes('was=loaded'), isMoved: lines.includes('plist=moved') });
    else if (head === 'traces') traces.push(tracesOf(lines));
    else others.push(record);
  }
  const names = [...values.map(({ key }) => key), ...daemons.map(({ label }) => label)];
  if (traces.length > 1 || traces.includes(undefined) || new Set(names).size < names.length) return undefined;
  return { baseline: { values, daemons }, traces: traces[0] ?? noTraces, others };
}
