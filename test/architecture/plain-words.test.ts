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

/** Exceptions: the account `nobody`, a variable, and texts in scripts that nodes have. */
const exceptions = [
  /(["'`])nobody\1/,
  /const inside of/,
  /somebody else has launched this job/,
  /# Whoever makes another/,
];

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
/** Scripts and the gateway keep their bytes until a release changes them. */
const left = [/\.(?:sh|pl)$/, /^src\/gateway\//, /^src\/model\/(?:gateway|digest)\.ts$/];

it('sources and pages contain none of the banned expressions', () => {
  const listed = execFileSync('git', ['ls-files', ...places], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const files = listed.filter((path) => !left.some((one) => one.test(path)));
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
