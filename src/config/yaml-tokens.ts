import { type CST, Parser } from 'yaml';
import type { Problem } from './problem.ts';

/** Deeper files are refused: the library that composes the values would run out of stack. */
export const maxDepth = 64;

/** The tokens of a text, with what must be refused before values are made of them. */
export interface Tokens {
  readonly tokens: readonly CST.Token[];
  readonly problems: readonly Problem[];
}

/** Splits a text into tokens (iterative, linear) and guards nesting, directives and the number of documents. */
export function readTokens(text: string): Tokens {
  const tokens = [...new Parser().parse(text)];
  const problems = [...tokens.flatMap(directiveProblem), ...documentProblems(tokens)];
  const deep = tooDeepAt(tokens);
  if (deep !== undefined) {
    const span = { start: deep, end: deep + 1 };
    problems.push({ code: 'yaml/too-deep', span, detail: `Here begins level ${maxDepth + 1}; ${maxDepth} are read.` });
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

interface Open {
  readonly token: CST.Token;
  readonly depth: number;
}

/** The offset of the first collection below the deepest level, found with a stack of our own. */
function tooDeepAt(tokens: readonly CST.Token[]): number | undefined {
  const open: Open[] = tokens.map((token) => ({ token, depth: 0 }));
  let first: number | undefined;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > maxDepth) first = Math.min(first ?? token.offset, token.offset);
    else for (const child of childrenOf(token)) open.push({ token: child, depth: depth + 1 });
  }
  return first;
}

function childrenOf(token: CST.Token): readonly CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  const children: CST.Token[] = [];
  for (const item of token.items) {
    if (item.key !== undefined && item.key !== null) children.push(item.key);
    if (item.value !== undefined) children.push(item.value);
  }
  return children;
}
