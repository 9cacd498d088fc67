import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
