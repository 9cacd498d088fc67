import { Composer, type Document, type YAMLParseError } from 'yaml';
import type { SourceText, Span } from './line-index.ts';
import type { Problem } from './problem.ts';
import { readText } from './read-text.ts';
import type { SourceMap } from './source-map.ts';
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
  const broken = syntaxProblems(document, source.text);
  if (broken.length > 0) return { source, map: noPlaces, problems: broken };
  const read = readValues(document.contents, source.text);
  if (read.value === null && read.problems.length === 0) return empty(source);
  return { source, ...read };
}

function empty(source: SourceText): ReadDocument {
  const detail = 'There is no value in it, only comments or nothing at all.';
  return { source, map: noPlaces, problems: [{ code: 'yaml/empty', span: { start: 0, end: 0 }, detail }] };
}

const reportedAtMost = 20;

/** Errors of the grammar, one for each line: what follows on the same line is nearly always the same mistake. */
function syntaxProblems(document: Document.Parsed, text: string): readonly Problem[] {
  const conflict = document.errors.length === 0 ? undefined : mergeConflict(text);
  if (conflict !== undefined) return [conflict];
  const problems: Problem[] = [];
  let lineEnd = -1;
  for (const error of [...document.errors].sort((a, b) => a.pos[0] - b.pos[0])) {
    if (error.pos[0] <= lineEnd) continue;
    problems.push(syntaxProblem(error, text));
    lineEnd = text.indexOf('\n', error.pos[0]);
    if (lineEnd === -1 || problems.length === reportedAtMost) break;
  }
  return problems;
}

/** The marks that version control leaves in a file explain everything that follows. */
function mergeConflict(text: string): Problem | undefined {
  const mark = /^<{7}(?= |$)/m.exec(text);
  if (mark === null) return undefined;
  const span = { start: mark.index, end: mark.index + mark[0].length };
  const detail = 'Two versions of the file were merged, and this conflict was left.';
  return { code: 'yaml/syntax', span, detail, hint: 'Keep one of the two sides and remove the three marks.' };
}

function syntaxProblem(error: YAMLParseError, text: string): Problem {
  const span: Span = { start: error.pos[0], end: Math.max(error.pos[1], error.pos[0] + 1) };
  if (error.code === 'TAB_AS_INDENT') {
    return { code: 'yaml/tab', span: { start: span.start, end: span.start + 1 }, detail: 'Here stands a tab.' };
  }
  if (error.code === 'BAD_ALIAS') return { code: 'yaml/bad-alias', span, detail: `${error.message}.` };
  const lineEnd = text.indexOf('\n', span.start);
  const end = lineEnd === -1 ? span.end : Math.min(span.end, Math.max(lineEnd, span.start + 1));
  return { code: 'yaml/syntax', span: { start: span.start, end }, detail: `${error.message.replace(/\.$/, '')}.` };
}
