import { curesOf, incidentFolder } from '../../apply/journal/incidents.ts';
import { type JournalRecord, type RecordedRun, readJournals } from '../../apply/journal/journal.ts';
import { columnsOf, firmSpace } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import type { PastCure } from '../../engine/diagnose/past-cures.ts';
import { type Unreached, unreachedOf } from '../../engine/plan/view.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { HistoryChange, HistoryRun, HistoryStep } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { listText, tally } from '../../model/lists.ts';
import { blank, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { durationText, utcText } from '../../model/text/units.ts';
import { type HistoryEntry, historyCommand, parseHistory } from '../../node/root-script.ts';
import { readPropertyKey } from '../../rack/resource.ts';
import { gatherAlike } from '../../report/findings.ts';
import { nodesText, seenText, unreachedField } from '../../report/nodes-text.ts';
import { counted, fitLines, hang, headLines, type Page, pageText } from '../../report/page.ts';
import { cureText } from '../../report/recover-text.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { codeForNodes } from '../exit-codes.ts';
import { journalsOf } from '../files/places.ts';
import { diagnosticsJson, pageFor } from '../terminal/console.ts';
import { type Run, readCountOption, usageError, type VerbBody } from '../verb.ts';
import { answerText, askNodes, isAnswered, outcomeDiagnostics, outcomeVerdict } from './observe-fleet.ts';

const usualRuns = 20;
const linesPerNode = 1_000;

/** The format of run names, which never matches a node name. */
const runName = /^\d{8}T\d{6}-[0-9a-f]+$/;

/** `history [NODE…|RUN…]`: lists past runs from journals and the nodes' records, or every change of the named runs. */
export const history: VerbBody = async (typed) => {
  const named = typed.words.filter((word) => runName.test(word));
  const run: Run = { ...typed, words: typed.words.filter((word) => !runName.test(word)) };
  const last = readCountOption(run, 'last') ?? usualRuns;
  const cluster = openCluster(run);
  const { name } = cluster.fleet;
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const ways = openTargets(run, cluster);
  const outcomes = await askNodes(run, { nodes, ways }, (_node, rootPrefix) => ({
    name: 'history',
    command: historyCommand(rootPrefix, linesPerNode),
  }));
  const recorded = outcomes
    .filter(isAnswered)
    .map((outcome) => ({ node: outcome.node, entries: parseHistory(answerText(outcome)) }));
  const folder = journalsOf(run, name);
  const read = [readJournals(folder), readJournals(incidentFolder(folder))];
  const journals = read.flatMap((one) => one.runs);
  const problems = read.flatMap((one) => one.problems);
  const runs = mergeHistory(journals, recorded)
    .filter((one) => isAbout(one, run, nodes))
    .filter((one) => named.length === 0 || named.includes(one.run))
    .slice(0, named.length === 0 ? last : undefined);
  const lost = outcomes.filter((outcome) => !isAnswered(outcome)).map(({ node }) => node);
  const failures = Object.fromEntries(outcomes.map((outcome) => [outcome.node, outcomeDiagnostics(outcome)]));
  const unreached = unreachedOf(lost, { failures });
  refuseUnknown(named, runs, lost);
  const diagnostics = [...problems, ...outcomes.flatMap(outcomeDiagnostics)];
  const seen = outcomes.length - lost.length;
  return {
    exit: codeForNodes(outcomes.map(outcomeVerdict)),
    document: {
      ...documentHead(run.console, { cluster: name }),
      // Nodes that were not reached may have records.
      runs: runs.length === 0 && lost.length > 0 ? null : runs.map(runJson),
      ...unreachedField(unreached),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    },
    text: historyText({ cluster: name, runs, seen, unreached, isWhole: named.length > 0 }, pageFor(run.console)),
    findings: gatherAlike(diagnostics),
  };
};

/** @throws FleetError `cli/usage` for a run that is in no journal and on no node */
function refuseUnknown(named: readonly string[], runs: readonly PastRun[], lost: readonly string[]): void {
  const unknown = named.find((name) => !runs.some(({ run }) => run === name));
  if (unknown === undefined) return;
  const where =
    lost.length === 0 ? 'here or on the nodes' : `here or on the reached nodes; not reached: ${lost.join(', ')}`;
  throw usageError(`No run ${unknown} is recorded ${where}.`, prose`List the runs: ${meshwright('history')}`);
}

/** True if no node was chosen, or if a step of the run is on a chosen node. */
function isAbout({ steps }: PastRun, run: Run, nodes: readonly DesiredNode[]): boolean {
  const isChosen = run.words.length > 0 || run.options.nodes !== undefined || run.options.label !== undefined;
  return !isChosen || steps.some(({ node }) => nodes.some(({ name }) => name === node));
}

const isoOf = (epochSeconds: number): string => new Date(epochSeconds * 1_000).toISOString();

const runJson = ({ run, atEpochSeconds, verb, by, steps, changes, cures, ms, from, end, damaged }: PastRun) => ({
  run,
  at: isoOf(atEpochSeconds),
  verb,
  by,
  from,
  ...(end === undefined ? {} : { ended: end !== 'open' }),
  ...(end === 'interrupted' ? { interrupted: true as const } : {}),
  ...given({ ms, damaged, changes }),
  ...(cures === undefined ? {} : { cures: cures.map(cureJson) }),
  steps: steps.map((one) => ({ node: one.node, step: one.step, result: one.result, at: isoOf(one.atEpochSeconds) })),
});

const cureJson = ({ rung, names, placements, isDone, ms }: PastCure) => ({
  ...{ rung, names, placements },
  ...given({ done: isDone, milliseconds: ms === undefined ? undefined : Math.round(ms) }),
});

interface NodeHistory {
  readonly node: string;
  readonly entries: readonly HistoryEntry[];
}

const secondsOf = (iso: string): number => {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1_000);
};

/** The time in the name of a run or an incident: `20261120T111844-5f3a9c`. */
export const namedAt = (run: string): number =>
  secondsOf(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)-.*$/, '$1-$2-$3T$4:$5:$6Z'));

/**
 * Merges this controller's journals and the nodes' records into one list of runs, newest first. A step in both is
 * listed once, with the journal's outcome. A step that only a node has recorded comes from a different controller, or
 * from one that lost its journals.
 */
export function mergeHistory(journals: readonly RecordedRun[], nodes: readonly NodeHistory[]): readonly PastRun[] {
  const runs = new Map<string, PastRun>();
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

function journalRun({ runId, records, damaged, isEnded }: RecordedRun): PastRun | undefined {
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
    ...incidentPart(records),
    ...(records.length < 2 ? {} : spanOf(first, records.at(-1))),
    from: ['journal'],
    end: isEnded ? endOf(records) : 'open',
    ...(damaged === 0 ? {} : { damaged }),
  };
}

/** The cures of `recover`, and its result. */
function incidentPart(records: readonly JournalRecord[]): Pick<PastRun, 'cures' | 'isServing'> {
  const cures = curesOf(records);
  const last = records.at(-1);
  return cures.length === 0
    ? {}
    : { cures, ...given({ isServing: last?.phase === 'end' ? last.isServing : undefined }) };
}

const endOf = (records: readonly JournalRecord[]): 'ended' | 'interrupted' =>
  records.some((one) => one.phase === 'end' && one.isInterrupted) ? 'interrupted' : 'ended';

/** The time between two records; empty if a record is missing or the clock was set back. */
function spanOf(first: Timed | undefined, last: Timed | undefined): { readonly ms?: number } {
  const ms = Date.parse(last?.at ?? '') - Date.parse(first?.at ?? '');
  return ms >= 0 ? { ms } : {};
}

type Timed = Pick<JournalRecord, 'at'>;

type Planned = Extract<JournalRecord, { phase: 'plan' }>['changes'][number];

/** The changes of every plan, with the outcomes of their steps before the next plan. */
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
  const result = resultOf(steps, { begun: begun.length, outcomes: ends.map(({ outcome }) => outcome) });
  return { node, resource: address, from, to, result, ...spanOf(begun[0], ends.at(-1)) };
}

function resultOf(
  steps: number | undefined,
  { begun, outcomes }: { readonly begun: number; readonly outcomes: readonly string[] },
): HistoryChange['result'] {
  if (outcomes.includes('failed')) return 'failed';
  if (begun === 0) return steps === undefined ? 'unknown' : 'not begun';
  const done = outcomes.filter((one) => one === 'changed' || one === 'unchanged');
  if (done.length < begun) return 'not finished';
  if (steps === undefined) return 'unknown';
  if (done.length < steps) return 'not finished';
  return done.includes('changed') ? 'changed' : 'unchanged';
}

/** Every intent with its outcome. An intent without an outcome was interrupted, so the outcome is unknown. */
function stepsOf(records: readonly JournalRecord[]): readonly PastStep[] {
  const outcomes = new Map(
    records.flatMap((one) => (one.phase === 'outcome' ? [[`${one.node} ${one.step}`, one.outcome] as const] : [])),
  );
  return records.flatMap((one) => {
    if (one.phase !== 'intent') return [];
    const { node, step, at } = one;
    return [{ node, step, result: outcomes.get(`${node} ${step}`) ?? 'unknown', atEpochSeconds: secondsOf(at) }];
  });
}

function withEntry(known: PastRun | undefined, node: string, entry: HistoryEntry): PastRun {
  const { atEpochSeconds, step, result, run, verb, by } = entry;
  const base: PastRun = known ?? { run, atEpochSeconds, verb, by, steps: [], from: [] };
  // The node can roll back without help after the run, so the rollback is not in the journal.
  const isAfter = result === 'rolled-back' || result === 'partly-rolled-back';
  const isOfJournal = base.from.includes('journal') && base.steps.some((one) => one.node === node && one.step === step);
  const isRecorded = isOfJournal && !isAfter;
  return {
    ...base,
    atEpochSeconds: base.from.includes('journal') ? base.atEpochSeconds : Math.min(base.atEpochSeconds, atEpochSeconds),
    steps: isRecorded ? base.steps : [...base.steps, { node, step, result, atEpochSeconds }],
    from: base.from.includes('node') ? base.from : [...base.from, 'node'],
  };
}

interface PastStep extends Omit<HistoryStep, 'at'> {
  readonly atEpochSeconds: number;
}

/** One run, merged from this controller's journal and the nodes' records. */
interface PastRun extends Pick<HistoryRun, 'run' | 'verb' | 'by' | 'changes' | 'ms' | 'from' | 'damaged'> {
  /** The time of the run's first record. */
  readonly atEpochSeconds: number;
  /** Oldest first. */
  readonly steps: readonly PastStep[];
  /** The end according to the journal; `open` without a final record: the run was killed or is running. */
  readonly end?: 'ended' | 'interrupted' | 'open';
  readonly cures?: readonly PastCure[];
  /** Only after cures: whether each placement returned a token at the end; absent if it is unknown. */
  readonly isServing?: boolean;
}

interface HistoryTextInput {
  readonly cluster: string;
  /** Newest first. */
  readonly runs: readonly PastRun[];
  /** The number of nodes that answered, and the nodes that did not. */
  readonly seen: number;
  readonly unreached: Unreached;
  /** True if every change is listed, as for a single run. */
  readonly isWhole: boolean;
}

/** A few lines per run, newest first: time, command, user, nodes, and result. */
export function historyText(input: HistoryTextInput, page: Page): string {
  const { cluster, runs, seen, unreached, isWhole } = input;
  const about = `${counted(runs.length, 'run')}, ${seenText(seen, unreached)}`;
  const head = headLines(cluster, about, page);
  return pageText([
    head,
    ...(runs.length === 0 ? [fitLines(noneText(input), page.columns)] : []),
    ...runs.map((run) => runLines(run, isWhole, page)),
    ...(isWhole || runs.length === 0
      ? []
      : [
          fitLines(
            proseText(prose`List the changes of one run: ${meshwright('history', blank('RUN'))}`, page, firmSpace),
            page.columns,
          ),
        ]),
  ]);
}

/** Reports that no run is recorded, and names unreached nodes because they may have records. */
function noneText({ seen, unreached }: Pick<HistoryTextInput, 'seen' | 'unreached'>): string {
  const lost = Object.keys(unreached);
  if (lost.length === 0) return 'No run is recorded, here or on the nodes.';
  const there = seen === 0 ? '' : ' or on the nodes that were reached';
  return `No run is recorded here${there}. Not reached: ${nodesText(lost)}.`;
}

function runLines(run: PastRun, isWhole: boolean, page: Page): readonly string[] {
  const { verb, by, atEpochSeconds, steps, changes, ms } = run;
  const took = ms === undefined ? '' : `   ${durationText(ms)}`;
  const title = `${utcText(atEpochSeconds)}   ${escapeText(verb)} by ${escapeText(by)}${took}`;
  const nodes = [...new Set(steps.map(({ node }) => node))].sort();
  const notes = [`run ${escapeText(run.run)}${nodes.length === 0 ? '' : ` on ${nodesText(nodes)}`}`, outcomeText(run)];
  const damage =
    run.damaged === undefined
      ? []
      : [`${counted(run.damaged, 'record')} of its journal damaged or missing, so the run may have done more`];
  const bad = steps.filter(({ result }) => result !== 'changed' && result !== 'unchanged');
  return [
    columnsOf(title) <= page.columns ? page.paint('strong', title) : title,
    ...[...notes, ...damage].flatMap((note) => hang('  ', note, page.columns)),
    ...bad.flatMap(({ node, step, result }) =>
      hang('  ', `${escapeText(result)}: ${escapeText(step)} on ${escapeText(node)}`, page.columns),
    ),
    ...(isWhole ? wholeLines(changes, page) : []),
  ];
}

function wholeLines(changes: PastRun['changes'], page: Page): readonly string[] {
  if (changes === undefined) {
    return hang('  ', 'The journal of this run is not on this computer, and nodes record only steps.', page.columns);
  }
  return changes.flatMap(({ node, resource, from, to, result, ms }) => {
    const took = ms === undefined ? '' : ` ${durationText(ms)}`;
    const text = `${node} ${resource}: ${from} -> ${to} (${result}${took})`;
    return hang('    ', escapeText(text), page.columns);
  });
}

function outcomeText(run: PastRun): string {
  const { from, end } = run;
  const said =
    run.cures === undefined
      ? run.changes === undefined
        ? stepsText(run)
        : changesText(run.changes, run.damaged)
      : incidentText(run.cures, run.isServing);
  const ends = { ended: '', interrupted: '; interrupted', open: '; killed or still running (no end recorded)' };
  return `${said}${end === undefined ? '' : ends[end]}${from.includes('journal') ? '' : ' (recorded by the nodes)'}`;
}

/** `chat: Restart chat (failed, 31 s), Reboot studio-2 (done, 5 s); then it served`. */
function incidentText(cures: readonly PastCure[], isServing?: boolean): string {
  const names = [...new Set(cures.flatMap(({ placements }) => placements))];
  const done = cures.map((cure) => {
    const result = cure.isDone === undefined ? 'not finished' : cure.isDone ? 'done' : 'failed';
    return `${cureText(cure)} (${result}${cure.ms === undefined ? '' : `, ${durationText(cure.ms)}`})`;
  });
  const end = isServing === undefined ? '' : isServing ? '; then it served' : '; it did not serve';
  return escapeText(`${listText(names)}: ${done.join(', ')}${end}`);
}

/** Counts changes by property, like `apply`. */
function changesText(changes: readonly HistoryChange[], damaged = 0): string {
  const parts = tally(changes.map(({ result }) => result)).map(([result, count]) =>
    result === 'unchanged'
      ? `${count} already right`
      : result === 'unknown'
        ? `${count} planned`
        : `${count} ${result}`,
  );
  const none = damaged === 0 ? 'no changes planned' : 'no changes recorded';
  return parts.length === 0 ? none : parts.join(', ');
}

function stepsText({ steps }: PastRun): string {
  const parts = tally(steps.map(({ result }) => result)).map(
    ([result, count]) => `${counted(count, 'step')} ${escapeText(result)}`,
  );
  return parts.length === 0 ? 'no step started' : parts.join(', ');
}
