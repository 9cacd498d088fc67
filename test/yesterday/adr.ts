import { readFileSync } from 'node:fs';

/** The differences from the previous release that the decision record allows. */
export interface Allowed {
  /** Old and new names. */
  readonly names: readonly string[];
  /** Addresses of properties that the first plan may change. */
  readonly changes: readonly string[];
}

const page = new URL('../../docs/adr/0016-names-of-yesterday.md', import.meta.url);

/** Reads both tables of the record: every text between backticks in the columns with names. */
export function allowedByAdr(): Allowed {
  const rows = readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  const cells = rows.map((line) => line.split('|').slice(1, -1));
  const quoted = (texts: readonly string[]): readonly string[] =>
    texts.flatMap((text) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''));
  return {
    names: quoted(cells.filter(({ length }) => length === 3).flatMap((row) => row.slice(0, 2))),
    changes: quoted(cells.filter(({ length }) => length === 2).flatMap((row) => row.slice(0, 1))),
  };
}
