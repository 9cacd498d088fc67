import { Composer } from 'yaml';
import type { Problem } from '../problem.ts';
import type { SourceText } from './line-index.ts';
import { readText } from './read-text.ts';
import type { SourceMap } from './source-map.ts';
import { syntaxProblems } from './syntax-problems.ts';
import { readTokens } from './yaml-tokens.ts';
import { readValues } from './yaml-values.ts';

/** One YAML file as plain data. `value` is absent when the text is too broken to have one. */
export interface ReadDocument {
  readonly source: SourceText;
  readonly value?: unknown;
  readonly map: SourceMap;
  readonly problems: readonly Problem[];
}

const noPlaces: SourceMap = new Map();

/**
 * Reads one YAML 1.2 document into plain data without prototypes, with the place of every value. Never throws for
 * any input; time and memory are bounded by the size limit, the depth limit and the limit on unfolded aliases.
 */
export function readDocument(input: string | Uint8Array, file: string): ReadDocument {
  const { source, problems } = readText(input, file);
  if (problems.length > 0) return { source, map: noPlaces, problems };
  const { tokens, problems: refused } = readTokens(source.text);
  if (refused.length > 0) return { source, map: noPlaces, problems: refused };
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, keepSourceTokens: false, merge: false });
  const document = [...composer.compose(tokens, true, source.text.length)][0];
  if (document === undefined || document.contents === null) return empty(source);
  const broken = syntaxProblems(document.errors, source, tokens);
  if (broken.length > 0) return { source, map: noPlaces, problems: broken };
  const read = readValues(document.contents, source.text);
  if (read.value === null && read.problems.length === 0) return empty(source);
  return { source, ...read };
}

function empty(source: SourceText): ReadDocument {
  const detail = 'There is no value in it, only comments or nothing at all.';
  return { source, map: noPlaces, problems: [{ code: 'yaml/empty', span: { start: 0, end: 0 }, detail }] };
}
