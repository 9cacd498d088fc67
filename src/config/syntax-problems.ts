import { Composer, type CST, Parser, type YAMLParseError } from 'yaml';
import { blame, type Repair, type RepairTests, repairWords } from './blame.ts';
import { type Problem, quoted } from './problem.ts';
import { offsetOf, placeOf, type SourceText, type Span, sourceText, spanOfLine } from './source-map.ts';

const reportedAtMost = 20;

/** Repairs are looked for in files of at most so many letters, and at most so many are made. */
const repairs = { letters: 131_072, most: 3 };
/** Mistakes are counted in files of at most so many letters, at most so often: counting takes longer than parsing. */
const counts = { letters: 32_768, most: 12 };

/** Explains why a text cannot be read. The first errors are reported at the lines whose repair removes them. */
export function syntaxProblems(
  errors: readonly YAMLParseError[],
  source: SourceText,
  mistakes: (text: string) => number,
): readonly Problem[] {
  const conflict = mergeConflict(source.text);
  if (conflict !== undefined) return [conflict];
  const tabs = errors.filter(({ code }) => code === 'TAB_AS_INDENT');
  if (tabs.length > 0) return parserProblems(tabs, source.text);
  let counted = 0;
  const reading: RepairTests = {
    firstError,
    mistakes: (text) => {
      counted += 1;
      return counted > counts.most || text.length > counts.letters ? Number.POSITIVE_INFINITY : mistakes(text);
    },
  };
  const problems: Problem[] = [];
  let { text } = source;
  let left = errors;
  while (left.length > 0 && problems.length < repairs.most && text.length <= repairs.letters) {
    const [first] = parserProblems(left, text);
    const line = lineAt(text, Math.min(...left.map(({ pos }) => pos[0])));
    const repair = first?.hint === undefined ? blame(text, line, reading) : undefined;
    if (first === undefined || repair === undefined) break;
    const isKnown = repair.kind === 'stray' && lineAt(text, first.span.start) === repair.line;
    problems.push(isKnown ? inSource(first, text, source) : repairProblem(repair, source));
    text = repair.text;
    left = compose(text).errors;
  }
  return [...problems, ...parserProblems(left, text).map((problem) => inSource(problem, text, source))];
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length - 1;

/** The line of the first error in a text; undefined if the text can be read. */
function firstError(text: string): number | undefined {
  const { problems, errors } = compose(text);
  const offsets = [...problems.map(({ span }) => span.start), ...errors.map(({ pos }) => pos[0])];
  return offsets.length === 0 ? undefined : lineAt(text, Math.min(...offsets));
}

/** Splits a text into tokens and composes its nodes, unless the tokens have problems. */
export function compose(text: string) {
  const { tokens, problems } = readTokens(text);
  if (problems.length > 0) return { problems, errors: [] };
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, keepSourceTokens: false, merge: false });
  const document = [...composer.compose(tokens, true, text.length)][0];
  return { problems, document, errors: document?.errors ?? [] };
}

/** A problem of a repaired text at its place in the source. */
function inSource(problem: Problem, text: string, source: SourceText): Problem {
  if (text === source.text) return problem;
  const at = placeOf(sourceText('', text), problem.span);
  const start = offsetOf(source, at.line - 1, at.column - 1);
  return { ...problem, span: { start, end: Math.max(start + 1, offsetOf(source, at.endLine - 1, at.endColumn - 1)) } };
}

function repairProblem(repair: Repair, source: SourceText): Problem {
  const span = spanOfLine(source, repair.line);
  const end = repair.kind === 'column' ? span.start + 1 : span.end;
  return { code: 'yaml/syntax', span: { ...span, end }, ...repairWords(repair) };
}

/** The parser's errors, one per line: further errors on the same line are nearly always the same mistake. */
function parserProblems(errors: readonly YAMLParseError[], text: string): readonly Problem[] {
  const problems: Problem[] = [];
  let lineEnd = -1;
  for (const error of [...errors].sort((a, b) => a.pos[0] - b.pos[0])) {
    if (error.pos[0] <= lineEnd) continue;
    const problem = gluedAbove(error, text) ?? syntaxProblem(error, text);
    problems.push(problem);
    lineEnd = text.indexOf('\n', Math.max(error.pos[0], problem.span.start));
    if (lineEnd === -1 || problems.length === reportedAtMost) break;
  }
  return problems;
}

/** Reports version-control conflict markers, which explain all errors after them. */
function mergeConflict(text: string): Problem | undefined {
  const mark = /^<{7}(?= |$)/m.exec(text);
  if (mark === null) return undefined;
  const span = { start: mark.index, end: mark.index + mark[0].length };
  const detail = 'This merge conflict was not resolved.';
  return {
    code: 'yaml/syntax',
    span,
    detail,
    hint: 'Keep one of the two sides, and remove all three conflict markers.',
  };
}

function syntaxProblem(error: YAMLParseError, text: string): Problem {
  const span: Span = { start: error.pos[0], end: Math.max(error.pos[1], error.pos[0] + 1) };
  if (error.code === 'TAB_AS_INDENT') {
    return { code: 'yaml/tab', span: { start: span.start, end: span.start + 1 }, detail: 'There is a tab here.' };
  }
  if (error.code === 'BAD_ALIAS') return { code: 'yaml/bad-alias', span, detail: `${error.message}.` };
  const glued =
    error.code === 'MULTILINE_IMPLICIT_KEY' || error.code === 'MISSING_CHAR' ? gluedAt(text, span) : undefined;
  if (glued !== undefined) return glued;
  const lineEnd = text.indexOf('\n', span.start);
  const end = lineEnd === -1 ? span.end : Math.min(span.end, Math.max(lineEnd, span.start + 1));
  return { code: 'yaml/syntax', span: { start: span.start, end }, detail: `${error.message.replace(/\.$/, '')}.` };
}

/** Reports a glued key (without a space after its colon), which the parser took for the start of a longer key. */
function gluedAt(text: string, { start }: Pick<Span, 'start'>): Problem | undefined {
  const lineEnd = text.indexOf('\n', start);
  const glued = gluedKey(text.slice(start, lineEnd === -1 ? text.length : lineEnd));
  if (glued === undefined) return undefined;
  const written = `${glued.key}:${glued.value}`;
  const detail = `${quoted(written)} has no space after the colon, so YAML reads it as one word.`;
  return { code: 'yaml/syntax', span: { start, end: start + written.length }, detail, hint: spaceHint(glued) };
}

/** Reports a glued key at the same column on a line above, whose comment makes the next key an error. */
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

/** Finds the first character from a line's start that is neither blank nor in a comment. */
function contentFrom(text: string, lineStart: number): number {
  const blank = /(?: *(?:#.*)?\r?\n)* */y;
  blank.lastIndex = lineStart;
  return lineStart + (blank.exec(text)?.[0].length ?? 0);
}

/** Deeper nesting would overflow the YAML library's stack. */
const maxDepth = 64;

/** Splits a text into tokens, and checks nesting, directives, documents and brackets before values are composed. */
function readTokens(text: string) {
  const tokens = [...new Parser().parse(text)];
  const { deep, open } = inspect(tokens);
  const problems = [...tokens.flatMap(directiveProblem), ...documentProblems(tokens)];
  if (deep !== undefined) {
    const detail = `Level ${maxDepth + 1} begins here; the limit is ${maxDepth} levels.`;
    problems.push({ code: 'yaml/too-deep', span: { start: deep, end: deep + 1 }, detail });
  } else if (open !== undefined) {
    const detail = `This ${text[open]} is never closed.`;
    problems.push({ code: 'yaml/syntax', span: { start: open, end: open + 1 }, detail, label: 'opened here' });
  }
  return { tokens, problems };
}

function directiveProblem(token: CST.Token): readonly Problem[] {
  if (token.type !== 'directive' || /^%YAML\s+1\.2\s*$/.test(token.source)) return [];
  const span = { start: token.offset, end: token.offset + token.source.length };
  return [{ code: 'yaml/directive', span, detail: 'meshwright reads every file as YAML 1.2, without custom tags.' }];
}

function documentProblems(tokens: readonly CST.Token[]): readonly Problem[] {
  const second = tokens.filter((token) => token.type === 'document')[1];
  if (second === undefined) return [];
  const span = { start: second.offset, end: second.offset + 3 };
  return [{ code: 'yaml/several-documents', span, detail: 'A second document starts here.' }];
}

/** Finds the offsets of the first collection that is nested too deeply, and of the last unclosed bracket or quote. */
function inspect(tokens: readonly CST.Token[]): { readonly deep?: number; readonly open?: number } {
  const visits = tokens.map((token) => ({ token, depth: 0 }));
  let deep = Number.POSITIVE_INFINITY;
  let open = -1;
  for (let next = visits.pop(); next !== undefined; next = visits.pop()) {
    const { token, depth } = next;
    if (isLeftOpen(token)) open = Math.max(open, token.offset);
    if (depth > maxDepth) deep = Math.min(deep, token.offset);
    else for (const child of childrenOf(token)) visits.push({ token: child, depth: depth + 1 });
  }
  return { ...(deep === Number.POSITIVE_INFINITY ? {} : { deep }), ...(open === -1 ? {} : { open }) };
}

function isLeftOpen(token: CST.Token): boolean {
  if (token.type === 'flow-collection') {
    return !token.end.some(({ type }) => type === 'flow-map-end' || type === 'flow-seq-end');
  }
  if (token.type === 'single-quoted-scalar') return !/[^']'(?:'')*$|^''(?:'')*$/.test(token.source);
  if (token.type !== 'double-quoted-scalar') return false;
  let backslashes = 0;
  while (token.source.at(-2 - backslashes) === '\\') backslashes += 1;
  return token.source.length < 2 || !token.source.endsWith('"') || backslashes % 2 === 1;
}

function childrenOf(token: CST.Token): readonly CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat());
}

/** A key and its value, without the space that YAML requires between them. */
export type GluedKey = NonNullable<ReturnType<typeof gluedKey>>;

/** Splits `host:b.lan`, which is one word in YAML; undefined for anything else, for example a URL or a link. */
export function gluedKey(text: string) {
  const line = (text.split(/\r?\n| #/, 1)[0] ?? '').trimEnd();
  const match = /^([A-Za-z]+):(?!\/\/)(\S.*)$/.exec(line);
  if (match === null || line.includes('<->')) return undefined;
  return { key: match[1] ?? '', value: match[2] ?? '' };
}

/** The hint with the corrected pair. */
export const spaceHint = ({ key, value }: GluedKey): string =>
  `Write a space after the colon: ${quoted(`${key}: ${value}`)}.`;
