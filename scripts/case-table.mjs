import ts from 'typescript';

/** `(case 24)` or `(cases 1, 47b)` at the end of a title. */
const numberForm = /^(.*) \((?:case|cases) (\d+[a-z]?(?:, \d+[a-z]?)*)\)$/s;

/**
 * The titles with case numbers in a test file: each with its path, its text on one line, and its numbers. A template
 * literal is read as written.
 */
export function numberedTitles(path, text) {
  if (!text.includes('(case')) return [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const found = [];
  const visit = (node, above) => {
    const title = titleOf(node, file);
    const [, words = title, numbers] = (title === undefined ? undefined : numberForm.exec(title)) ?? [];
    const titles = title === undefined ? above : [...above, words];
    if (/\(cases?\b/.test(words ?? '')) throw new Error(`${path}: "${title}" is to end with (case 1) or (cases 1, 2)`);
    if (numbers !== undefined) found.push({ path, title: titles.join(' › '), numbers: numbers.split(', ') });
    ts.forEachChild(node, (child) => visit(child, titles));
  };
  visit(file, []);
  return found;
}

/** The title in a call of `it`, `test` or `describe` in any form, such as `it.each(rows)('…')`. */
function titleOf(node, file) {
  if (!ts.isCallExpression(node) || !/^(?:it|test|describe)\b/.test(node.expression.getText(file))) return undefined;
  const [title] = node.arguments;
  if (title === undefined) return undefined;
  if (ts.isStringLiteralLike(title)) return title.text;
  return ts.isTemplateExpression(title) ? title.getText(file).slice(1, -1) : undefined;
}

/**
 * Returns the page of all cases.
 *
 * @param groups the parts' titles, each with its cases: number, text and, if a test is missing, the reason
 * @param tests the result of {@link numberedTitles}
 * @throws Error for an unknown case number, or for a case with neither a test nor a reason
 */
export function casesPage(groups, tests) {
  const cases = groups.flatMap((group) => group.cases);
  for (const { path, title, numbers } of tests) {
    const unknown = numbers.find((number) => !cases.some((one) => one.number === number));
    if (unknown !== undefined)
      throw new Error(`${path}: "${title}" names case ${unknown}, which is not in scripts/cases.json`);
  }
  const parts = groups.map(({ title, cases: own }) => {
    const rows = own.map((one) => `| ${one.number} | ${one.words} | ${proofOf(one, tests)} |`);
    return `## ${title}\n\n| case | what must hold | tests |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `<!-- Generated from scripts/cases.json and the titles of tests by \`npm run generate\`; never edited by hand. -->
# Cases

${cases.length} ways in which input, nodes, networks, disks and people can break a run. If a test proves a case, its title ends with the
number, such as \`(case 24)\`. If a case cannot happen, or a part of it has no test, the row says why.

${parts.join('\n')}`;
}

function proofOf({ number, reason }, tests) {
  const own = tests.filter(({ numbers }) => numbers.includes(number));
  if (own.length === 0 && reason === undefined) throw new Error(`case ${number} has neither a test nor a reason`);
  const files = [...new Set(own.map(({ path }) => path))].map((path) => {
    const titles = own.filter((one) => one.path === path).map(({ title }) => escaped(title));
    return `[${path.replace(/^test\//, '').replace(/(?:\.test)?\.ts$/, '')}](../${path}): ${titles.join('; ')}`;
  });
  return [...files, ...(reason === undefined ? [] : [reason])].join('<br>');
}

const escaped = (title) => title.replaceAll(/[|<`*]/g, (sign) => `\\${sign}`);
