import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Merges two runs of one test: a failure remains a failure, and a test that ran anywhere was not skipped. */
const weight = { failed: 2, passed: 1 };

/** Maximum characters of a message's first line; the log above has the whole message. */
const messageLength = 160;

/**
 * Counts the tests in a folder's result files. A test in several runs counts once. A test that failed, but passed when
 * its file ran again alone (results in `again/`), counts as passed and as unsteady. An unreadable result file counts as
 * one failure, because its tests are unknown.
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
 * One line per test that failed in any of a folder's result files or was unsteady, with the first line of its message.
 * File paths are relative to `root`. Lists at most `most` tests, and then the number of further ones.
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
 * The test files with failures in one result file, which will run again, if there are at most `most` of them. Many
 * failures are no coincidence, and unreadable results name no file.
 */
export function filesToRunAgain(path, most = 3) {
  const failed = [...testsOf(path)].map(([, test]) => test).filter(({ verdict }) => verdict === weight.failed);
  const files = [...new Set(failed.map(({ file }) => file))];
  return files.length > most || files.some((file) => file.startsWith('results of ')) ? [] : files;
}

/** All tests of a folder, with the results of second runs taken into account. */
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
    // A file that could not be loaded lists no tests, so the whole file must pass.
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

/** Every test in one result file, under a unique key. */
function testsOf(path) {
  try {
    const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
    return testResults.flatMap(testsOfFile);
  } catch {
    const file = `results of ${relative(join(path, '..'), path)}`;
    return [[file, { file, titles: [], verdict: weight.failed, message: 'the file cannot be read' }]];
  }
}

/** The tests of one file; a file that could not be loaded counts as one failed test. */
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
