/** The results of a run: the stored file, and the table for people. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** The final verdicts. Mutants that do not compile are `refused` and never counted. */
const verdicts = ['killed', 'survived', 'timed out', 'equivalent'];

/** The target for all mutants in percent, and the maximum percentage of equivalent ones. */
const barOfAll = 75;
const mostEquivalent = 10;

/**
 * Opens a results file: the first line describes the run, each further line one mutant. An existing file is continued;
 * a truncated last line is dropped.
 *
 * @throws Error if the file has a different commit or seed
 */
export function openResults(path, { commit, seed }) {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  const [run = { commit, seed: seed ?? String(Math.floor(Math.random() * 1e6)) }, ...results] = lines.map((line) =>
    JSON.parse(line),
  );
  if (run.commit !== commit || (seed !== undefined && run.seed !== seed)) {
    throw new Error(
      `${path} has mutants of commit ${run.commit}, seed ${run.seed}. Remove it or use a different file.`,
    );
  }
  writeFileSync(path, [run, ...results].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return { run, results };
}

/** Percentage of killed mutants among those that could be killed; undefined if there are none. */
function scoreOf(counts) {
  const all = counts.killed + counts.survived + counts['timed out'];
  return all === 0 ? undefined : (100 * counts.killed) / all;
}

const countsOf = (results) =>
  Object.fromEntries(verdicts.map((verdict) => [verdict, results.filter((one) => one.verdict === verdict).length]));

/** Rounds down, so that a score never reaches its target by rounding. */
const percent = (score) => (score === undefined ? '-' : `${Math.floor(score)} %`);

/**
 * A run's table in Markdown, its surviving mutants, and the targets.
 *
 * @returns the lines, and whether every target is reached
 */
export function report(results, areas) {
  const rows = areas.map(({ name, bar }) => ({
    name,
    bar,
    counts: countsOf(results.filter((one) => one.area === name)),
  }));
  const all = { name: '**all**', bar: barOfAll, counts: countsOf(results) };
  const table = [...rows, all].map(
    ({ name, bar, counts }) =>
      `| ${name} | ${verdicts.map((one) => counts[one]).join(' | ')} | ${percent(scoreOf(counts))} | ${bar ? `${bar} %` : ''} |`,
  );
  const tried = verdicts.reduce((sum, one) => sum + all.counts[one], 0);
  const bars = [
    ...[...rows, all]
      .filter(({ bar }) => bar !== undefined)
      .map(({ name, bar, counts }) => {
        const score = scoreOf(counts);
        return {
          isMet: score !== undefined && score >= bar,
          text: `${name}: ${percent(score)} killed, at least ${bar} %`,
        };
      }),
    {
      isMet: all.counts.equivalent * 100 <= tried * mostEquivalent,
      text: `equivalent: ${all.counts.equivalent} of ${tried}, at most ${mostEquivalent} %`,
    },
  ];
  const left = results.filter(({ verdict }) => verdict === 'survived' || verdict === 'timed out');
  const lines = [
    `| area | ${verdicts.join(' | ')} | score | bar |`,
    `|---|${verdicts.map(() => '---|').join('')}---|---|`,
    ...table,
    '',
    ...left.flatMap((one) => [
      `${one.verdict}: ${one.file}:${one.line} ${one.operator}`,
      `  - ${one.before}`,
      `  + ${one.after}`,
    ]),
    ...bars.map(({ isMet, text }) => `${isMet ? 'reached' : 'MISSED '}  ${text}`),
  ];
  return { lines, isReached: bars.every(({ isMet }) => isMet) };
}

/**
 * A mutant's entry in the list of equivalents. Lines are compared as text, so that the list survives changes elsewhere
 * in the file.
 */
export const equivalentOf = (list, mutant) =>
  list.find((one) => ['file', 'operator', 'before', 'after'].every((key) => one[key] === mutant[key]));
