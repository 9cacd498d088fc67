import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Of two runs of one test: a failure stays one, and a test that ran anywhere was not skipped. */
const weight = { failed: 2, passed: 1 };

/**
 * Counts the tests in the result files of a folder, each test once however many runs had it.
 * A result file that cannot be read counts as one failure: nothing is known of its tests.
 */
export function countTests(folder) {
  const verdictByTest = new Map();
  const note = (key, verdict) => verdictByTest.set(key, Math.max(verdictByTest.get(key) ?? 0, verdict));
  for (const name of readdirSync(folder)) {
    try {
      const { testResults } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      for (const [key, verdict] of testResults.flatMap(verdictsOfFile)) note(key, verdict);
    } catch {
      note(name, weight.failed);
    }
  }
  const count = (verdict) => [...verdictByTest.values()].filter((one) => one === verdict).length;
  return { total: verdictByTest.size, failed: count(weight.failed), passed: count(weight.passed), skipped: count(0) };
}

/** Key and verdict of every test of one file; a file that could not even be loaded is one failed test. */
function verdictsOfFile({ name: file, status, assertionResults }) {
  const occurrences = new Map();
  const rows = assertionResults.map((test) => {
    const nth = (occurrences.get(test.fullName) ?? 0) + 1;
    occurrences.set(test.fullName, nth);
    return [`${file}\0${test.fullName}\0${nth}`, weight[test.status] ?? 0];
  });
  const isUnexplained = status === 'failed' && !rows.some(([, verdict]) => verdict === weight.failed);
  return isUnexplained ? [...rows, [file, weight.failed]] : rows;
}

/** Of a message no more than this many characters of its first line: the log above has all of it. */
const messageLength = 160;

/**
 * One line for each test that has failed in any of the result files of a folder, with the first line of its message;
 * files are named from `root`. Each test once, at most `most` of them, and then how many more there are.
 */
export function failureLines(folder, root, most = 40) {
  const lineByTest = new Map();
  for (const name of readdirSync(folder).sort()) {
    for (const [test, message] of failuresIn(join(folder, name), root)) {
      if (!lineByTest.has(test)) lineByTest.set(test, `FAILED  ${test}${message === '' ? '' : `: ${message}`}`);
    }
  }
  const lines = [...lineByTest.values()];
  const more = lines.length - most;
  return more > 0 ? [...lines.slice(0, most), `and ${more} more`] : lines;
}

/** Name and message of every failed test of one result file; of a file that could not be loaded its own. */
function failuresIn(path, root) {
  try {
    const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
    return testResults.flatMap(({ name, status, message, assertionResults }) => {
      const file = relative(root, name);
      const failed = assertionResults.filter((test) => test.status === 'failed');
      if (status === 'failed' && failed.length === 0) return [[file, firstLine(message)]];
      return failed.map(({ ancestorTitles = [], title, fullName, failureMessages }) => [
        [file, ...(title === undefined ? [fullName] : [...ancestorTitles, title])].join(' > '),
        firstLine(failureMessages?.[0]),
      ]);
    });
  } catch {
    return [[`results of ${relative(join(path, '..'), path)}`, 'they cannot be read']];
  }
}

const firstLine = (message = '') => {
  const [line = ''] = message.trim().split('\n');
  return line.length > messageLength ? `${line.slice(0, messageLength - 1)}…` : line;
};
