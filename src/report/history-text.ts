import { columnsOf } from '../diagnostics/cells.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { utcText } from '../model/utc-text.ts';
import { counted } from './counted.ts';
import { headLines } from './head-lines.ts';
import { hang } from './layout.ts';
import { nodesText } from './nodes-text.ts';
import { type Page, type Paint, pageColumns, plainPaint } from './page.ts';

/** One thing that a run did to a node, as somebody has kept it. */
export interface HistoryStep {
  readonly node: string;
  readonly step: string;
  /** As the node or the journal has it: `changed`, `unchanged`, `failed`, `unknown`, … */
  readonly result: string;
  readonly atEpochSeconds: number;
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
  /** Who knows of it. */
  readonly from: readonly ('journal' | 'node')[];
  /** False when the journal has no last record: it was killed, or runs still. Absent without a journal. */
  readonly isEnded?: boolean;
}

/** What `history` shows, and on what. */
export interface HistoryTextInput {
  readonly cluster: string;
  /** Newest first. */
  readonly runs: readonly HistoryRun[];
  readonly isSimulated: boolean;
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint?: Paint;
}

/** Every run in a few lines, newest first: when, what, by whom, on which nodes, and how it went. */
export function historyText(input: HistoryTextInput): string {
  const { cluster, runs, isSimulated } = input;
  const page = { columns: pageColumns(input.columns), unicode: input.unicode, paint: input.paint ?? plainPaint };
  const head = headLines({ name: cluster, about: counted(runs.length, 'run'), isSimulated }, page);
  if (runs.length === 0) return `${[...head, '', 'Nothing was done yet, as far as anybody knows.'].join('\n')}\n`;
  return `${[head, ...runs.map((run) => runLines(run, page))].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function runLines(run: HistoryRun, page: Page): readonly string[] {
  const { verb, by, atEpochSeconds, steps } = run;
  const title = `${utcText(atEpochSeconds)}   ${escapeText(verb)} by ${escapeText(by)}`;
  const nodes = [...new Set(steps.map(({ node }) => node))].sort();
  const notes = [`run ${escapeText(run.run)}${nodes.length === 0 ? '' : ` on ${nodesText(nodes)}`}`, outcomeText(run)];
  return [
    columnsOf(title) <= page.columns ? page.paint('strong', title) : title,
    ...notes.flatMap((note) => hang('  ', note, page.columns)),
    ...steps
      .filter(({ result }) => result !== 'changed' && result !== 'unchanged')
      .flatMap(({ node, step, result }) =>
        hang('  ', `${escapeText(result)}: ${escapeText(step)} on ${escapeText(node)}`, page.columns),
      ),
  ];
}

function outcomeText({ steps, from, isEnded }: HistoryRun): string {
  const counts = new Map<string, number>();
  for (const { result } of steps) counts.set(result, (counts.get(result) ?? 0) + 1);
  const parts = [...counts].map(([result, count]) => `${count} ${escapeText(result)}`);
  const said = parts.length === 0 ? 'no step was begun' : parts.join(', ');
  const whole = isEnded === false ? '; it did not come to its end, or still runs' : '';
  return `${said}${whole}${from.includes('journal') ? '' : ' (told by the nodes)'}`;
}
