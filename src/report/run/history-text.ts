import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { commandText } from '../../diagnostics/prose-text.ts';
import type { Unreached } from '../../engine/plan/view.ts';
import { blank, meshwright } from '../../model/text/command.ts';
import { durationText, utcText } from '../../model/text/units.ts';
import { nodesText, seenText } from '../nodes-text.ts';
import { counted, fitLines, hang, headLines, type Page, type PageInput, pageOf, pageText } from '../page.ts';

/** One thing that a run did to a node, as somebody has kept it. */
export interface HistoryStep {
  readonly node: string;
  readonly step: string;
  /** As the node or the journal has it: `changed`, `unchanged`, `failed`, `unknown`, … */
  readonly result: string;
  readonly atEpochSeconds: number;
}

/** How a change of a run came out; `unknown` where the journal does not say how many steps it takes. */
export type ChangeResult = 'changed' | 'unchanged' | 'failed' | 'not finished' | 'not begun' | 'unknown';

/** One property that a run was to change, from the journal of its controller. */
export interface HistoryChange {
  readonly node: string;
  /** Its address: `power/sleep`. */
  readonly resource: string;
  readonly from: string;
  readonly to: string;
  readonly result: ChangeResult;
  /** From the begin of its first step to the end of its last one; absent where none has ended. */
  readonly ms?: number;
}

/** One run, put together from the journal of this controller and from what the nodes have kept. */
export interface HistoryRun {
  readonly run: string;
  /** Of its first record. */
  readonly atEpochSeconds: number;
  readonly verb: string;
  /** `user@host` of the controller. */
  readonly by: string;
  /** In the order of time. */
  readonly steps: readonly HistoryStep[];
  /** In the order of the plans; absent without a journal: nodes keep steps only. */
  readonly changes?: readonly HistoryChange[];
  /** From its first record to its last one; absent without a journal, or while it has one record. */
  readonly ms?: number;
  /** Who knows of it. */
  readonly from: readonly ('journal' | 'node')[];
  /** How it ended by its journal; `open` without a last record: it was killed, or is still running. */
  readonly end?: 'ended' | 'interrupted' | 'open';
  /** How many records of its journal are damaged or missing; absent when none are. */
  readonly damaged?: number;
}

/** What `history` shows, and on what. */
interface HistoryTextInput extends PageInput {
  readonly cluster: string;
  /** Newest first. */
  readonly runs: readonly HistoryRun[];
  /** How many nodes were asked and answered, and those that did not. */
  readonly seen: number;
  readonly unreached: Unreached;
  /** Whether each change is listed, as for one run. */
  readonly isWhole: boolean;
}

/** Every run in a few lines, newest first: when, what, by whom, on which nodes, and how it went. */
export function historyText(input: HistoryTextInput): string {
  const { cluster, runs, seen, unreached, isWhole } = input;
  const page = pageOf(input);
  const about = `${counted(runs.length, 'run')}, ${seenText(seen, unreached)}`;
  const head = headLines(cluster, about, page);
  const blocks = [
    head,
    ...(runs.length === 0 ? [fitLines(noneText(input), page.columns)] : []),
    ...runs.map((run) => runLines(run, isWhole, page)),
    ...(isWhole || runs.length === 0
      ? []
      : [fitLines(`Changes of one run: ${commandText(meshwright('history', blank('RUN')), page)}`, page.columns)]),
  ];
  return pageText(blocks);
}

/** Of nodes that were not reached nobody can say that nothing was done to them. */
function noneText({ seen, unreached }: Pick<HistoryTextInput, 'seen' | 'unreached'>): string {
  const lost = Object.keys(unreached);
  if (lost.length === 0) return 'No run is recorded, here or on the nodes.';
  const there = seen === 0 ? '' : ' or on the nodes that were seen';
  return `No run is recorded here${there}. Not reached: ${nodesText(lost)}.`;
}

function runLines(run: HistoryRun, isWhole: boolean, page: Page): readonly string[] {
  const { verb, by, atEpochSeconds, steps, changes, ms } = run;
  const took = ms === undefined ? '' : `   ${durationText(ms)}`;
  const title = `${utcText(atEpochSeconds)}   ${escapeText(verb)} by ${escapeText(by)}${took}`;
  const nodes = [...new Set(steps.map(({ node }) => node))].sort();
  const notes = [`run ${escapeText(run.run)}${nodes.length === 0 ? '' : ` on ${nodesText(nodes)}`}`, outcomeText(run)];
  const damage =
    run.damaged === undefined
      ? []
      : [`${counted(run.damaged, 'record')} of its journal damaged or missing: more may have been done`];
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

function wholeLines(changes: HistoryRun['changes'], page: Page): readonly string[] {
  if (changes === undefined) {
    return hang('  ', 'The journal of this run is not on this computer, and nodes keep steps only.', page.columns);
  }
  return changes.flatMap(({ node, resource, from, to, result, ms }) => {
    const took = ms === undefined ? '' : ` ${durationText(ms)}`;
    const text = `${node} ${resource}: ${from} -> ${to} (${result}${took})`;
    return hang('    ', escapeText(text), page.columns);
  });
}

function outcomeText(run: HistoryRun): string {
  const { from, end } = run;
  const said = run.changes === undefined ? stepsText(run) : changesText(run.changes, run.damaged);
  const ends = { ended: '', interrupted: '; interrupted', open: '; no end is recorded: killed, or still running' };
  return `${said}${end === undefined ? '' : ends[end]}${from.includes('journal') ? '' : ' (as the nodes recorded it)'}`;
}

const tally = (results: readonly string[]): readonly (readonly [string, number])[] => {
  const counts = new Map<string, number>();
  for (const result of results) counts.set(result, (counts.get(result) ?? 0) + 1);
  return [...counts];
};

/** In properties, as `apply` counts. */
function changesText(changes: readonly HistoryChange[], damaged = 0): string {
  const parts = tally(changes.map(({ result }) => result)).map(([result, count]) =>
    result === 'unchanged'
      ? `${count} already right`
      : result === 'unknown'
        ? `${count} planned`
        : `${count} ${result}`,
  );
  const none = damaged === 0 ? 'no change was planned' : 'no change is recorded';
  return parts.length === 0 ? none : parts.join(', ');
}

function stepsText({ steps }: HistoryRun): string {
  const parts = tally(steps.map(({ result }) => result)).map(
    ([result, count]) => `${counted(count, 'step')} ${escapeText(result)}`,
  );
  return parts.length === 0 ? 'no step was begun' : parts.join(', ');
}
