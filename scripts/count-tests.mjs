import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Of two runs of one test: a failure stays one, and a test that ran anywhere was not skipped. */
const weight = { failed: 2, passed: 1 };

/** Of a message no more than this many characters of its first line: the log above has all of it. */
const messageLength = 160;

/**
 * Counts the tests in the result files of a folder, each test once however many runs had it. A test that failed, and
 * passed when its file ran again alone (the results in `again/`), counts as passed and as unsteady.
 * A result file that cannot be read counts as one failure: nothing is known of its tests.
 */
export function countTests(folder) {
  const tests = [...settledTests(folder).values()];
  const count = (verdict) => tests.filter((one) => one.verdict === verdict).length;
  return {
    total: tests.length,
    failed: count(weight.failed),
    passed: count(weight.passed),
    skipped: count(0),
    unsteady: tests.filter(({ isUnsteady }) => isUnsteady).length,
  };
}

/**
 * One line for each test that has failed in any of the result files of a folder, or was unsteady, with the first line
 * of its message; files are named from `root`. Each test once, at most `most` of them, and then how many more there are.
 */
export function failureLines(folder, root, most = 40) {
  const tests = [...settledTests(folder).values()];
  const line = (word, { file, titles, message }) => {
    const test = [file.startsWith('results of ') ? file : relative(root, file), ...titles].join(' > ');
    return `${word}  ${test}${message === '' ? '' : `: ${message}`}`;
  };
  const lines = [
    ...tests.filter(({ verdict }) => verdict === weight.failed).map((one) => line('FAILED', one)),
    ...tests.filter(({ isUnsteady }) => isUnsteady).map((one) => line('UNSTEADY, passed when it ran again alone', one)),
  ];
  const more = lines.length - most;
  return more > 0 ? [...lines.slice(0, most), `and ${more} more`] : lines;
}

/**
 * The test files with a failure in one result file, to be run again, if there are at most `most` of them. Many failures
 * are no accident, and results that cannot be read name no file.
 */
export function filesToRunAgain(path, most = 3) {
  const failed = [...testsOf(path)].map(([, test]) => test).filter(({ verdict }) => verdict === weight.failed);
  const files = [...new Set(failed.map(({ file }) => file))];
  return files.length > most || files.some((file) => file.startsWith('results of ')) ? [] : files;
}

/** All tests of a folder, after what its second runs have shown. */
function settledTests(folder) {
  const tests = testsIn(folder);
  const again = existsSync(join(folder, 'again')) ? testsIn(join(folder, 'again')) : new Map();
  for (const [key, test] of again) if (!tests.has(key)) tests.set(key, test);
  const brokenAgain = new Set(
    [...again.values()].filter((one) => one.verdict === weight.failed).map((one) => one.file),
  );
  const ranAgain = new Set([...again.values()].filter((one) => one.verdict === weight.passed).map((one) => one.file));
  for (const [key, test] of tests) {
    if (test.verdict !== weight.failed) continue;
    // A file that could not be loaded has no test to look for: all of it has to pass.
    const isOfFile = test.titles.length === 0;
    const hasPassed = isOfFile
      ? ranAgain.has(test.file) && !brokenAgain.has(test.file)
      : again.get(key)?.verdict === weight.passed;
    if (hasPassed) tests.set(key, { ...test, verdict: weight.passed, isUnsteady: true });
  }
  return tests;
}

function testsIn(folder) {
  const tests = new Map();
  for (const name of readdirSync(folder)
    .filter((one) => one.endsWith('.json'))
    .sort()) {
    for (const [key, test] of testsOf(join(folder, name))) {
      const other = tests.get(key);
      if (other === undefined || other.verdict < test.verdict) tests.set(key, test);
    }
  }
  return tests;
}

/** Every test of one result file under a key of its own. */
function testsOf(path) {
  try {
    const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
    return testResults.flatMap(testsOfFile);
  } catch {
    const file = `results of ${relative(join(path, '..'), path)}`;
    return [[file, { file, titles: [], verdict: weight.failed, message: 'they cannot be read' }]];
  }
}

/** The tests of one file; one that could not even be loaded is one failed test. */
function testsOfFile({ name: file, status, message, assertionResults }) {
  const occurrences = new Map();
  const tests = assertionResults.map(({ ancestorTitles = [], title, fullName, status: verdict, failureMessages }) => {
    const nth = (occurrences.get(fullName) ?? 0) + 1;
    occurrences.set(fullName, nth);
    const titles = title === undefined ? [fullName] : [...ancestorTitles, title];
    const test = { file, titles, verdict: weight[verdict] ?? 0, message: firstLine(failureMessages?.[0]) };
    return [`${file}\0${fullName}\0${nth}`, test];
  });
  const isUnexplained = status === 'failed' && !tests.some(([, { verdict }]) => verdict === weight.failed);
  return isUnexplained
    ? [...tests, [file, { file, titles: [], verdict: weight.failed, message: firstLine(message) }]]
    : tests;
}

const firstLine = (message = '') => {
  const [line = ''] = message.trim().split('\n');
  return line.length > messageLength ? `${line.slice(0, messageLength - 1)}…` : line;
};
