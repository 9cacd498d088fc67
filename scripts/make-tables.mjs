/** Makes a module of tables in YAML: each key of a file except `shared` is an export with its type in `Tables`. */
import { readFileSync } from 'node:fs';
import { isCollection, isPair, LineCounter, parseDocument } from 'yaml';

/** The rows of a list or map, each on a line of its own with its place in the file, which type errors then show. */
function rowsOf(table, placeOf, textOf) {
  return table.items.map((row) => {
    const [key, value] = isPair(row) ? [`${JSON.stringify(row.key.value)}: `, row.value] : ['', row];
    return `  ${key}${textOf(value)}, // ${placeOf(isPair(row) ? row.key : row)}\n`;
  });
}

function tablesIn(path) {
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines, merge: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw new Error(`${path}: ${problem.message}`);
  const placeOf = (node) => `${path}:${lines.linePos(node.range[0]).line}`;
  const textOf = (node) => {
    try {
      return JSON.stringify(node.toJS(document, { maxAliasCount: -1 }));
    } catch (error) {
      throw new Error(`${placeOf(node)}: ${error.message}`);
    }
  };
  return document.contents.items
    .filter(({ key }) => key.value !== 'shared')
    .map(({ key: { value: name }, value: table }) => {
      const [open, close] = table.items?.some(isPair) ? '{}' : '[]';
      const rows = isCollection(table) ? `${open}\n${rowsOf(table, placeOf, textOf).join('')}${close}` : '';
      return `export const ${name}: Tables['${name}'] = ${rows || textOf(table)};\n`;
    });
}

/** The module for these files. */
export const tables = (paths) => `import type { Tables } from './tables.ts';\n\n${paths.flatMap(tablesIn).join('\n')}`;
