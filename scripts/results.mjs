/** Reads the results that vitest has written as JSON. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const firstLine = (message = '') => message.trim().split('\n')[0].slice(0, 160);

/**
 * The counts of a folder's result files, and a line for each failure. A test file that could not be loaded is one
 * failure, and so is a result file that cannot be read, because its tests are unknown.
 */
export function readResults(folder, root) {
  const counts = { passed: 0, skipped: 0, failures: [] };
  const files = readdirSync(folder).filter((one) => one.endsWith('.json'));
  for (const result of files.sort()) {
    let testResults;
    try {
      ({ testResults } = JSON.parse(readFileSync(join(folder, result), 'utf8')));
    } catch {
      counts.failures.push(`results of ${result}: the file cannot be read`);
      continue;
    }
    for (const { name, status, message, assertionResults } of testResults) {
      const file = relative(root, name);
      const failed = assertionResults.filter((one) => one.status === 'failed');
      const passed = assertionResults.filter((one) => one.status === 'passed');
      counts.passed += passed.length;
      counts.skipped += assertionResults.length - passed.length - failed.length;
      for (const { ancestorTitles, title, failureMessages } of failed)
        counts.failures.push(`${[file, ...ancestorTitles, title].join(' > ')}: ${firstLine(failureMessages[0])}`);
      if (status === 'failed' && failed.length === 0) counts.failures.push(`${file}: ${firstLine(message)}`);
    }
  }
  return counts;
}
