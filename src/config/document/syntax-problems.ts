import type { CST, YAMLParseError } from 'yaml';
import type { Problem } from '../problem.ts';
import { gluedKey, spaceHint } from './glued-key.ts';
import { contentFrom, indentationProblem, levelsOf } from './indentation.ts';
import type { SourceText, Span } from './line-index.ts';
import { quoted } from './quoted.ts';

const reportedAtMost = 20;

/** Errors of the grammar, one for each line: what follows on the same line is nearly always the same mistake. */
export function syntaxProblems(
  errors: readonly YAMLParseError[],
  source: SourceText,
  tokens: readonly CST.Token[],
): readonly Problem[] {
  if (errors.length === 0) return [];
  const { text } = source;
  const conflict = mergeConflict(text);
  if (conflict !== undefined) return [conflict];
  const levels = levelsOf(tokens, source);
  const problems: Problem[] = [];
  let lineEnd = -1;
  for (const error of [...errors].sort((a, b) => a.pos[0] - b.pos[0])) {
    if (error.pos[0] <= lineEnd) continue;
    const problem = gluedAbove(error, text) ?? indentationProblem(error, source, levels) ?? syntaxProblem(error, text);
    problems.push(problem);
    lineEnd = text.indexOf('\n', Math.max(error.pos[0], problem.span.start));
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
  const glued =
    error.code === 'MULTILINE_IMPLICIT_KEY' || error.code === 'MISSING_CHAR' ? gluedAt(text, span) : undefined;
  if (glued !== undefined) return glued;
  const lineEnd = text.indexOf('\n', span.start);
  const end = lineEnd === -1 ? span.end : Math.min(span.end, Math.max(lineEnd, span.start + 1));
  return { code: 'yaml/syntax', span: { start: span.start, end }, detail: `${error.message.replace(/\.$/, '')}.` };
}

/** A key without the space after its colon, which the reader took for the beginning of a longer key. */
function gluedAt(text: string, { start }: Pick<Span, 'start'>): Problem | undefined {
  const lineEnd = text.indexOf('\n', start);
  const glued = gluedKey(text.slice(start, lineEnd === -1 ? text.length : lineEnd));
  if (glued === undefined) return undefined;
  const written = `${glued.key}:${glued.value}`;
  const detail = `${quoted(written)} has no space after the colon, so it is one word.`;
  return { code: 'yaml/syntax', span: { start, end: start + written.length }, detail, hint: spaceHint(glued) };
}

/** Such a key in the line above and at the same column, where a comment ends the word: the next key then fits nowhere. */
function gluedAbove({ code, pos }: YAMLParseError, text: string): Problem | undefined {
  if (code !== 'BAD_INDENT') return undefined;
  let end = text.lastIndexOf('\n', pos[0] - 1);
  const content = contentFrom(text, end + 1);
  const column = content - text.lastIndexOf('\n', content - 1) - 1;
  while (end > 0) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const words = text.slice(start, end).trimStart();
    if (words !== '' && !words.startsWith('#')) {
      return end - words.length - start === column ? gluedAt(text, { start: end - words.length }) : undefined;
    }
    end = start - 1;
  }
  return undefined;
}
