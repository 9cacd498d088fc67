import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/**
 * Expressions that plain sentences do not need. The list is short: most bad sentences contain none of these
 * expressions.
 */
const wrong = /\b(?:nobody|somebody|whoever|is told|are told|as the file says|anew|inside of|that (?:is|are) none)\b/i;

/** Exceptions: the account `nobody`, and a variable. */
const exceptions = [/(["'`])nobody\1/, /const inside of/];

const places = [
  'src',
  'docs',
  'examples',
  'playbooks',
  'schemas',
  'scripts',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
];

it('sources and pages contain none of the banned expressions', () => {
  const files = execFileSync('git', ['ls-files', ...places], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const found = files.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        wrong.test(line) && !exceptions.some((one) => one.test(line)) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
      ),
  );
  expect(files.length).toBeGreaterThan(600);
  expect(found).toEqual([]);
});
