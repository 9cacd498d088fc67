import type { JournalRecord } from '../../apply/journal/journal-record.ts';
import type { RecordedRun } from '../../apply/journal/read-journals.ts';
import type { HistoryEntry } from '../../node/history.ts';
import { readPropertyKey } from '../../rack/property-key.ts';
import type { ChangeResult, HistoryChange, HistoryRun, HistoryStep } from '../../report/run/history-text.ts';

/** What the history of one node has. */
export interface NodeHistory {
  readonly node: string;
  readonly entries: readonly HistoryEntry[];
}

const secondsOf = (iso: string): number => {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1_000);
};

/** The time in the name of a run: `20261120T111844-5f3a9c`. */
const namedAt = (run: string): number =>
  secondsOf(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)-.*$/, '$1-$2-$3T$4:$5:$6Z'));

/**
 * Journals of this controller and histories of nodes as one list of runs, newest first. A step that both know is told
 * once, with the outcome that the journal has; what only a node knows was done by another controller, or by one that
 * has lost its journals.
 */
export function mergeHistory(journals: readonly RecordedRun[], nodes: readonly NodeHistory[]): readonly HistoryRun[] {
  const runs = new Map<string, HistoryRun>();
  for (const journal of journals) {
    const run = journalRun(journal);
    if (run !== undefined) runs.set(run.run, run);
  }
  for (const { node, entries } of nodes) {
    for (const entry of entries) runs.set(entry.run, withEntry(runs.get(entry.run), node, entry));
  }
  return [...runs.values()]
    .map((run) => ({ ...run, steps: run.steps.toSorted((a, b) => a.atEpochSeconds - b.atEpochSeconds) }))
    .sort((a, b) => b.atEpochSeconds - a.atEpochSeconds || (a.run < b.run ? 1 : -1));
}

function journalRun({ runId, records, damaged, isEnded }: RecordedRun): HistoryRun | undefined {
  const [first] = records;
  if (first === undefined && damaged === 0) return undefined;
  const about = records.find((one) => one.phase === 'run');
  return {
    run: runId,
    atEpochSeconds: first === undefined ? namedAt(runId) : secondsOf(first.at),
    verb: about?.verb ?? 'unknown',
    by: about?.controller ?? 'this controller',
    steps: stepsOf(records),
    changes: changesOf(records),
    ...spanOf(records),
    from: ['journal'],
    end: isEnded ? endOf(records) : 'open',
    ...(damaged === 0 ? {} : { damaged }),
  };
}

const endOf = (records: readonly JournalRecord[]): 'ended' | 'interrupted' =>
  records.some((one) => one.phase === 'end' && one.isInterrupted) ? 'interrupted' : 'ended';

const msOf = (iso: string): number => Date.parse(iso);

function spanOf(records: readonly JournalRecord[]): { readonly ms?: number } {
  const ms = msOf(records.at(-1)?.at ?? '') - msOf(records[0]?.at ?? '');
  return records.length < 2 || !(ms >= 0) ? {} : { ms };
}

type Planned = Extract<JournalRecord, { phase: 'plan' }>['changes'][number];

/** The changes of every plan, with what became of their steps up to the next plan. */
function changesOf(records: readonly JournalRecord[]): readonly HistoryChange[] {
  return records.flatMap((plan, at) => {
    if (plan.phase !== 'plan') return [];
    const next = records.findIndex((one, index) => index > at && one.phase === 'plan');
    const own = records.slice(at + 1, next === -1 ? undefined : next);
    return plan.changes.map((change) => changeOf(change, own));
  });
}

function changeOf({ id, from, to, steps }: Planned, records: readonly JournalRecord[]): HistoryChange {
  const { node, address } = readPropertyKey(id);
  const begun = records.flatMap((one) =>
    one.phase === 'intent' && one.rescues === undefined && one.changes.includes(id) ? [one] : [],
  );
  const ids = begun.map(({ step }) => step);
  const ends = records.flatMap((one) => (one.phase === 'outcome' && ids.includes(one.step) ? [one] : []));
  const [first] = begun;
  const last = ends.at(-1);
  const ms = first === undefined || last === undefined ? Number.NaN : msOf(last.at) - msOf(first.at);
  const result = resultOf(steps, { begun: begun.length, outcomes: ends.map(({ outcome }) => outcome) });
  return { node, resource: address, from, to, result, ...(ms >= 0 ? { ms } : {}) };
}

function resultOf(
  steps: number | undefined,
  { begun, outcomes }: { readonly begun: number; readonly outcomes: readonly string[] },
): ChangeResult {
  if (outcomes.includes('failed')) return 'failed';
  if (begun === 0) return steps === undefined ? 'unknown' : 'not begun';
  const done = outcomes.filter((one) => one === 'changed' || one === 'unchanged');
  if (done.length < begun) return 'not finished';
  if (steps === undefined) return 'unknown';
  if (done.length < steps) return 'not finished';
  return done.includes('changed') ? 'changed' : 'unchanged';
}

/** Every intent with its outcome; one without was interrupted, and nobody knows what became of it. */
function stepsOf(records: readonly JournalRecord[]): readonly HistoryStep[] {
  const outcomes = new Map(
    records.flatMap((one) => (one.phase === 'outcome' ? [[`${one.node} ${one.step}`, one.outcome] as const] : [])),
  );
  return records.flatMap((one) => {
    if (one.phase !== 'intent') return [];
    const { node, step, at } = one;
    return [{ node, step, result: outcomes.get(`${node} ${step}`) ?? 'unknown', atEpochSeconds: secondsOf(at) }];
  });
}

function withEntry(known: HistoryRun | undefined, node: string, entry: HistoryEntry): HistoryRun {
  const { atEpochSeconds, step, result, run, verb, by } = entry;
  const base: HistoryRun = known ?? { run, atEpochSeconds, verb, by, steps: [], from: [] };
  // What the node did by itself afterwards, the journal cannot know.
  const isAfter = result === 'rolled-back' || result === 'partly-rolled-back';
  const isOfJournal = base.from.includes('journal') && base.steps.some((one) => one.node === node && one.step === step);
  const isTold = isOfJournal && !isAfter;
  return {
    ...base,
    atEpochSeconds: base.from.includes('journal') ? base.atEpochSeconds : Math.min(base.atEpochSeconds, atEpochSeconds),
    steps: isTold ? base.steps : [...base.steps, { node, step, result, atEpochSeconds }],
    from: base.from.includes('node') ? base.from : [...base.from, 'node'],
  };
}
