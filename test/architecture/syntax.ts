import ts from 'typescript';
import { textOf } from './sources.ts';

/** A function in a source file, with its measurements. */
export interface FunctionShape {
  readonly place: string;
  readonly name: string;
  readonly lines: number;
  /** The deepest nesting of loops, conditions and try blocks; an `else if` is not deeper than its `if`. */
  readonly depth: number;
}

const parsed = new Map<string, ts.SourceFile>();

/** The syntax tree of a project file. Several tests share it. */
export function parse(path: string, text: string = textOf(path)): ts.SourceFile {
  const known = parsed.get(path);
  if (known?.text === text) return known;
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  parsed.set(path, tree);
  return tree;
}

/** All nodes of a tree except punctuation and docstrings, parents before children. */
export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const all: ts.Node[] = [];
  const add = (one: ts.Node): void => {
    all.push(one);
    ts.forEachChild(one, add);
  };
  add(node);
  return all;
}

/** The calls in a project file. */
export const callsIn = (path: string, text?: string): readonly ts.CallExpression[] =>
  nodesOf(parse(path, text)).filter(ts.isCallExpression);

/** Every function, method, accessor and arrow function in a file. */
export function functionsOf(file: ts.SourceFile): readonly FunctionShape[] {
  return nodesOf(file)
    .filter(isFunction)
    .map((node) => {
      const start = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
      const end = file.getLineAndCharacterOfPosition(node.end).line;
      return {
        place: `${file.fileName}:${start + 1}`,
        name: nameOf(node, file),
        lines: end - start + 1,
        depth: node.body === undefined ? 0 : depthOf(node.body),
      };
    });
}

const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;

function nameOf(node: ts.FunctionLikeDeclaration, file: ts.SourceFile): string {
  const own = node.name?.getText(file);
  if (own !== undefined) return own;
  return ts.isVariableDeclaration(node.parent) ? node.parent.name.getText(file) : '';
}

function depthOf(node: ts.Node): number {
  let deepest = 0;
  ts.forEachChild(node, (child) => {
    if (ts.isFunctionLike(child)) return;
    const isElseIf = ts.isIfStatement(child) && ts.isIfStatement(node) && node.elseStatement === child;
    deepest = Math.max(deepest, depthOf(child) + (isNesting(child) && !isElseIf ? 1 : 0));
  });
  return deepest;
}

const isNesting = (node: ts.Node): boolean =>
  ts.isIfStatement(node) ||
  ts.isIterationStatement(node, false) ||
  ts.isSwitchStatement(node) ||
  ts.isTryStatement(node);
