import { type CST, Parser } from 'yaml';
import type { Problem } from '../problem.ts';

/** Deeper files are refused: the library that composes the values would run out of stack. */
const maxDepth = 64;

/** The tokens of a text, with what must be refused before values are made of them. */
export interface Tokens {
  readonly tokens: readonly CST.Token[];
  readonly problems: readonly Problem[];
}

/** Splits a text into tokens (iterative, linear); guards nesting, directives, documents and what is left open. */
export function readTokens(text: string): Tokens {
  const tokens = [...new Parser().parse(text)];
  const { deep, open } = look(tokens);
  const problems = [...tokens.flatMap(directiveProblem), ...documentProblems(tokens)];
  if (deep !== undefined) {
    const detail = `Here begins level ${maxDepth + 1}; ${maxDepth} are read.`;
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
  return [{ code: 'yaml/directive', span, detail: 'The file is read as YAML 1.2, without tags of its own.' }];
}

function documentProblems(tokens: readonly CST.Token[]): readonly Problem[] {
  const second = tokens.filter((token) => token.type === 'document')[1];
  if (second === undefined) return [];
  const span = { start: second.offset, end: second.offset + 3 };
  return [{ code: 'yaml/several-documents', span, detail: 'A second document starts here, after the first one.' }];
}

interface Visit {
  readonly token: CST.Token;
  readonly depth: number;
}

/** Offsets of the first collection below the deepest level and of the last bracket or quote that is left open. */
function look(tokens: readonly CST.Token[]): { readonly deep?: number; readonly open?: number } {
  const visits: Visit[] = tokens.map((token) => ({ token, depth: 0 }));
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

/** The tokens directly inside another one. */
export function childrenOf(token: CST.Token): readonly CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  const children: CST.Token[] = [];
  for (const item of token.items) {
    if (item.key !== undefined && item.key !== null) children.push(item.key);
    if (item.value !== undefined) children.push(item.value);
  }
  return children;
}
