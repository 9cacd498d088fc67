import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { DesiredPlacement } from '../model/desired.ts';
import { type FailingRank, type RankSaid, rankWords } from '../runtimes/classify-log.ts';

/** How much of a log is told. */
const toldLines = 6;
const toldCharacters = 200;

/**
 * Which rank of a placement failed first, what it said and what that means; or that none says why. Text of nodes in it is
 * escaped and bounded.
 *
 * @param all what is known of every rank
 */
export function failingRankFinding(
  { name, nodes }: Pick<DesiredPlacement, 'name' | 'nodes'>,
  failing: FailingRank | undefined,
  all: readonly RankSaid[],
): Diagnostic {
  const subject = `placement ${name}`;
  if (failing === undefined) {
    const silent = all.filter(({ lines }) => lines.length === 0).map(({ node }) => node);
    const words = silent.length === 0 ? '' : ` Nothing was said on ${silent.join(', ')}.`;
    const detail = `No rank of ${nodes.length} has ended or said what is wrong.${words}`;
    return diagnose('mesh/no-failing-rank', { subject, detail, hint: `See what they said: meshwright logs ${name}` });
  }
  const { said, failure } = failing;
  const lines = failure === undefined ? said.lines.slice(-toldLines) : around(said.lines, failure.index);
  const shown = lines.map((line) => escapeText(line.slice(0, toldCharacters)));
  const quoted = shown.length === 0 ? ' It said nothing.' : ` It said:\n${shown.join('\n')}`;
  const meaning = failure === undefined ? '' : ` ${failure.signature.meaning}`;
  const hint = failure?.signature.cure ?? `See all that it said: meshwright logs ${name}`;
  return diagnose('mesh/first-failing-rank', {
    subject,
    detail: `${upper(rankWords(said))}.${meaning}${quoted}`,
    hint,
  });
}

/** The line that tells why, with what stands before and behind it. */
const around = (lines: readonly string[], index: number): readonly string[] =>
  lines.slice(Math.max(0, index - toldLines / 2), index + toldLines / 2);

const upper = (text: string): string => escapeText(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}`);
