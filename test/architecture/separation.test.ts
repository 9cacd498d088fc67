import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesBelow, table } from './sources.ts';
import { nodesOf, parse } from './syntax.ts';

const productFolders = ['apply', 'config', 'desired', 'engine', 'node', 'rack', 'remote', 'report'];
/** The command line starts the simulator with the resolved file, so it belongs to neither side. */
const sharedFolders = ['src/model/', 'src/diagnostics/'];

/** Shorter texts occur in any program: `exited`, `status`, `-json`. */
const long = 12;

const modules = filesBelow('src').filter((path) => path.endsWith('.ts'));
const trees = new Map(modules.map((path) => [path, parse(path)]));

/** Every module that a module names in an import, an export or `import()`, for types or values. */
function named(path: string): readonly string[] {
  const tree = trees.get(path);
  if (tree === undefined) throw new Error(`no module ${path}`);
  return nodesOf(tree).flatMap((node) => {
    const isImportCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const specifier = isImportCall
      ? node.arguments[0]
      : ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : undefined;
    if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return [];
    return [join(dirname(path), specifier.text)];
  });
}

function reachable(from: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [...from];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    waiting.push(...named(next));
  }
  return seen;
}

const inside = (folder: string): readonly string[] => modules.filter((path) => path.startsWith(`src/${folder}/`));

/** Modules in parts of the import table. */
const ofParts = (...names: readonly string[]): readonly string[] =>
  modules.filter((path) => new RegExp(table.filesOf(names)).test(path));

/** Texts that a module uses as values: strings, templates and patterns, without types and imports. */
function textsIn(path: string): readonly string[] {
  const tree = trees.get(path);
  if (tree === undefined) return [];
  return nodesOf(tree).flatMap((node) => {
    if (ts.isSourceFile(node) || ts.isLiteralTypeNode(node.parent) || ts.isImportDeclaration(node.parent)) return [];
    if (ts.isStringLiteralLike(node) || ts.isRegularExpressionLiteral(node)) return [node.text];
    if (ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) return [node.text];
    return [];
  });
}

const simulator = reachable(inside('sim'));
const product = reachable(productFolders.flatMap(inside));
const shared = [...simulator].filter((path) => product.has(path));

describe('the simulator and the product', () => {
  it('share only the vocabulary and the diagnostics', () => {
    expect(shared.length).toBeGreaterThan(0);
    expect(shared.filter((path) => !sharedFolders.some((folder) => path.startsWith(folder)))).toEqual([]);
  });

  it('each define every long Mac text separately', () => {
    const ownOfSimulator = new Set(inside('sim').flatMap(textsIn));
    const onBothSides = ofParts('node', 'rack/fact', 'rack/script', 'engine/observe', 'engine/scripts')
      .flatMap(textsIn)
      .filter((text) => text.length >= long && ownOfSimulator.has(text));
    // The search finds such texts, for instance this one of system_profiler.
    expect(onBothSides).toContain('receptacle_no_devices_connected');
    const inCommon = new Set(shared.flatMap(textsIn));
    expect(onBothSides.filter((text) => inCommon.has(text))).toEqual([]);
  });

  it('do not share any pattern', () => {
    const patterns = (paths: readonly string[]): readonly string[] =>
      paths.flatMap(textsIn).filter((text) => text.startsWith('/') && text.length >= long && /[\\[(^$]/.test(text));
    const vocabulary = shared.filter((path) => path.startsWith('src/model/'));
    expect(patterns(ofParts('node/answers', 'rack/fact')).length).toBeGreaterThan(10);
    expect(patterns(vocabulary)).toEqual([]);
  });
});
