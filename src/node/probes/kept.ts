import type { Baseline, NodeRollback, Traces } from '../../model/facts/node-records.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled } from '../answers/read-answer.ts';
import {
  exitOfListHead,
  isHoldHead,
  isKeeperHead,
  isLeaseHead,
  keyOfJobHead,
  readFields,
  readRecords,
  stateOfRollbackHead,
} from '../answers/records.ts';
import { readKeptBefore } from './kept-before.ts';

/** A process that ps found under the number of a job. */
export interface JobProcess {
  readonly pid: string;
  readonly command: string;
}

/** The records of the probe `kept-records`. */
export interface Kept {
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
