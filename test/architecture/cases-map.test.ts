import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { textOf } from './sources.ts';
import { nodesOf, parse } from './syntax.ts';

/** The text of a string, or the source of a template. */
const wordsOf = (node: ts.Node | undefined): string | undefined => {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) return node.getText().slice(1, -1);
  return ts.isArrayLiteralExpression(node) ? wordsOf(node.elements[0]) : undefined;
};

/** The title of a test, or the name of a table row. */
function caseAt(node: ts.Node): string | undefined {
  if (ts.isCallExpression(node))
    return /^it\b/.test(node.expression.getText()) ? wordsOf(node.arguments[0]) : undefined;
  if (!ts.isObjectLiteralExpression(node)) return undefined;
  const wordsAt = (key: string): string | undefined => {
    const found = node.properties.find(({ name }) => name?.getText() === key);
    return found !== undefined && ts.isPropertyAssignment(found) ? wordsOf(found.initializer) : undefined;
  };
  const name = wordsAt('title') ?? wordsAt('what') ?? wordsAt('name') ?? wordsAt('fault');
  const about = wordsAt('of');
  return name === undefined ? about : about === undefined ? name : `${about}: ${name}`;
}

/** The names of rows in a table at the top of a file: their keys, or their first strings. */
function rowsOf({ name, initializer: table }: ts.VariableDeclaration): readonly string[] {
  const wordsOfRow = (row: ts.Node): string | undefined => {
    if (!ts.isPropertyAssignment(row)) return ts.isArrayLiteralExpression(row) ? wordsOf(row) : undefined;
    return ts.isLiteralExpression(row.initializer) ? undefined : (wordsOf(row.name) ?? row.name.getText());
  };
  if (table === undefined) return [];
  const isTable = ts.isArrayLiteralExpression(table) || ts.isObjectLiteralExpression(table);
  const rows: readonly ts.Node[] = !isTable ? [] : 'elements' in table ? table.elements : table.properties;
  return rows.flatMap((row) => wordsOfRow(row) ?? []).map((one) => `${name.getText()}: ${one}`);
}

/** The cases of a suite, read from its source. */
function casesOf(suite: string): ReadonlySet<string> {
  const file = parse(suite);
  const tables = file.statements.flatMap((one) =>
    ts.isVariableStatement(one) ? one.declarationList.declarations : [],
  );
  return new Set([...[...nodesOf(file)].flatMap((node) => caseAt(node) ?? []), ...tables.flatMap(rowsOf)]);
}

describe('test/cases-map.tsv', () => {
  const [, ...lines] = textOf('test/cases-map.tsv').trimEnd().split('\n');
  let [before, now] = ['', ''];
  const rows = lines.map((line) => {
    const [oldSuite = '', oldCase = '', newSuite = '', newCase = ''] = line.split('\t');
    if (oldSuite !== '') [before, now] = [oldSuite, newSuite];
    return { before, oldCase, now: newSuite === '' ? now : newSuite, newCase: newCase === '' ? oldCase : newCase };
  });

  it('names each of the 443 former cases once', () => {
    expect(new Set(rows.map(({ before: suite, oldCase }) => `${suite} ${oldCase}`)).size).toBe(rows.length);
    expect(rows.length).toBe(443);
  });

  it('maps each former case to an existing case or to the reason for its removal', () => {
    const suites = new Map(
      [...new Set(rows.map((row) => row.now))].filter((one) => one !== 'gone').map((suite) => [suite, casesOf(suite)]),
    );
    const isLost = ({ now: suite, newCase }: (typeof rows)[number]): boolean =>
      suite === 'gone' ? newCase.split(' ').length < 4 : !suites.get(suite)?.has(newCase);
    expect(rows.filter(isLost)).toEqual([]);
  });
});
