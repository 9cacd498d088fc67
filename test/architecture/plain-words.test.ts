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

/** Older names that the glossary replaces, also as parts of names. `home` and `rollback` have other meanings. */
const older =
  /doorm[ae]n|\bdoors?\b|[a-z]Doors?\b|taken-?back|left-over|lost-?member|needs-?reboot|farewell|\bbeat\b|still-inside|(?:meshwright[./]|settle-)rollback\b|rollback-pending/i;

/** Exceptions: the account `nobody`, a variable, and a door that people lock. */
const exceptions = [/(["'`])nobody\1/, /const inside of/, /locked door/];

/** Decisions never change, and the other three say what an older name is called now. */
const namesOlder = /^(?:docs\/adr\/.*|docs\/glossary\.md|CHANGELOG\.md|src\/config\/unknown-keys\.ts)$/;

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

it('sources and pages contain no banned expressions or outdated names', () => {
  const files = execFileSync('git', ['ls-files', ...places], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const found = files.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        (wrong.test(line) || (older.test(line) && !namesOlder.test(path))) && !exceptions.some((one) => one.test(line))
          ? [`${path}:${at + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(files.length).toBeGreaterThan(600);
  expect(found).toEqual([]);
});
