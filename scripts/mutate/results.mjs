/** The results of a run: the stored file, and the table for people. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const verdicts = ['killed', 'survived', 'timed out', 'equivalent'];
const shellText = 'shell text';

/** The rows of the table: rooms of `src`. The last row has all rooms that are not listed. */
const areas = [
  ...['rack', shellText, 'engine', 'apply', 'desired, config, model', 'drivers', 'remote', 'gateway', 'native', 'node'],
  ...['cli', 'report, secrets, others'],
];
const all = '**all**';

/** The percentage of mutants that must be killed. */
const bars = { [shellText]: 65, [all]: 78 };

function areaOf({ file, isShell }) {
  const room = file.split('/')[1];
  return isShell ? shellText : (areas.find((area) => area.split(', ').includes(room)) ?? areas.at(-1));
}

/**
 * Opens a results file: the first line describes the run, each further line one mutant. A new file starts with `run`;
 * an existing one is continued without a truncated last line.
 *
 * @throws Error for an equivalent mutant without a reason
 */
export function openResults(path, run) {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  if (!lines.at(-1)?.endsWith('}')) lines.pop();
  const [first = run, ...results] = lines.map((line) => JSON.parse(line));
  const unexplained = results.find(({ verdict, reason }) => verdict === 'equivalent' && !reason);
  if (unexplained) throw new Error(`${unexplained.file}:${unexplained.line} is equivalent, but has no "reason"`);
  writeFileSync(path, [first, ...results].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return { run: first, results };
}

const percent = (number) => (number >= 0 ? `${number} %` : '');

function row(area, results) {
  const counts = verdicts.map((one) => results.filter(({ verdict }) => verdict === one).length);
  const [killed, survived, late] = counts;
  // Rounded down, so that a score never reaches its bar by rounding.
  const score = Math.floor((100 * killed) / (killed + survived + late));
  const line = `| ${[area, ...counts, percent(score), percent(bars[area])].join(' | ')} |`;
  return { line, isMissed: bars[area] > 0 && !(score >= bars[area]) };
}

/** A run's table in Markdown, the mutants that no test noticed, and whether every bar is reached. */
export function report(results) {
  const of = (area) => results.filter((one) => area === all || areaOf(one) === area);
  const rows = [...areas, all].map((area) => row(area, of(area)));
  const left = results.filter(({ verdict }) => verdict !== 'killed');
  const lines = [
    `| area | ${verdicts.join(' | ')} | score | bar |\n|---|---|---|---|---|---|---|`,
    ...rows.map(({ line }) => line),
    '',
    ...left.map(({ verdict, file, line, operator, before, after, reason }) => {
      const why = reason === undefined ? '' : ` (${reason})`;
      return `${verdict}: ${file}:${line} ${operator}${why}\n  - ${before}\n  + ${after}`;
    }),
  ];
  return { lines, isReached: !rows.some(({ isMissed }) => isMissed) };
}
