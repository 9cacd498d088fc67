import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { commandVerbs } from '../../src/model/text/command.ts';
import { filesBelow, textOf } from './sources.ts';
import { callsIn, nodesOf, parse } from './syntax.ts';

const takesApart = ['split', 'startsWith', 'endsWith', 'includes', 'indexOf', 'match', 'replace', 'replaceAll'];

/** The last word of `step.resource` or `change.address`. */
const lastName = (node: ts.Node | undefined): string =>
  node === undefined ? '' : (/\w+$/.exec(node.getText().replace(/[()?!]/g, ''))?.[0] ?? '');

const isAddress = (node: ts.Node | undefined): boolean => ['address', 'resource'].includes(lastName(node));

const hasSlash = (node: ts.Node | undefined): boolean => node?.getText().slice(1, -1).includes('/') === true;

/** The calls of methods in a file that are meant, with the path; `given` is the first argument. */
function methodCalls(
  path: string,
  text: string,
  isMeant: (name: string, read: ts.Node, given: ts.Node | undefined) => boolean,
): readonly string[] {
  return callsIn(path, text).flatMap((call) => {
    const { expression, arguments: given } = call;
    if (!ts.isPropertyAccessExpression(expression)) return [];
    return isMeant(expression.name.text, expression.expression, given[0]) ? [`${path}: ${call.getText()}`] : [];
  });
}

/** Calls that split the address of a property; network addresses have other separators. */
function addressReaders(path: string, text = textOf(path)): readonly string[] {
  // Most files have no such call, and parsing is slow.
  if (!/(?:address|resource)[)?!]*\.\w|\.(?:exec|test)\(/.test(text)) return [];
  return methodCalls(path, text, (name, read, given) => {
    const isTaken = takesApart.includes(name) && isAddress(read) && hasSlash(given);
    return isTaken || ((name === 'exec' || name === 'test') && isAddress(given) && read.getText().includes('\\/'));
  });
}

describe("a property's address", () => {
  const sources = filesBelow('src').filter((path) => path.endsWith('.ts') && path !== 'src/model/subject.ts');

  it('is never split to make a decision, because its parts are available as data', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.flatMap((path) => addressReaders(path))).toEqual([]);
  });

  it.each([
    "const [kind] = property.address.split('/')",
    "const name = earlier.address?.split('/')[1]",
    'resource.startsWith(`placement/${name}/`)',
    "address.slice(address.indexOf('/') + 1)",
    String.raw`/^gateway\/(\d+)$/.exec(address)`,
    String.raw`/^placement(?:\/|$)/.test(one.resource)`,
  ])('counts as split in %s', (planted) => {
    expect(addressReaders('planted.ts', planted)).toHaveLength(1);
  });

  it.each(["ipv4.address.split('.')", "address.startsWith('169.254.')", "path.split('/')", '/^fe80:/.test(address)'])(
    'does not count as split in %s',
    (fine) => {
      expect(addressReaders('fine.ts', fine)).toEqual([]);
    },
  );
});

/** Files where a command is part of a manual or a program, not advice during a run. */
const manuals = [
  /^src\/cli\/verbs-/,
  'src/cli/sim/demo.ts',
  'src/cli/sim/sim-example.ts',
  'src/config/lock-text.ts',
  'src/node/owner-word.ts',
];

/** Keys of texts that appear only in the manual: causes of errors, meanings of options. */
const manualKeys = ['cause', 'more', 'summary'];

const isIn = (places: readonly (string | RegExp)[], path: string): boolean =>
  places.some((one) => (typeof one === 'string' ? one === path : one.test(path)));

const isManual = (node: ts.Node): boolean => {
  for (let up = node.parent; up !== undefined; up = up.parent) {
    if (ts.isPropertyAssignment(up) && manualKeys.includes(up.name.getText())) return true;
  }
  return false;
};

const advice = new RegExp(`(?:^|[^/.\\w])meshwright (?:${commandVerbs.join('|')})(?![\\w-]| in by key)`);

/** An interpolated command; help and the version of the program reach no node. */
const filledIn = /(?:^|[^/.\w])meshwright \$\{(?![^}]*\} ?--help|readVersion\(\))/;

/** The text that names the command of a lease's owner. */
const otherRun = 'meshwright ${verb}, at ${phase}';

/** Commands written as text instead of `meshwright('reboot', name)`, which would lack `--sim`. */
function typedCommands(path: string, text = textOf(path)): readonly string[] {
  if (!advice.test(text) && !filledIn.test(text)) return [];
  const nodes = nodesOf(parse(path, text)).filter((node) => !isManual(node));
  const isWritten = (node: ts.Node): boolean =>
    (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) &&
    advice.test(node.getText().slice(1));
  const isFilledIn = (node: ts.Node): boolean =>
    ts.isTemplateExpression(node) && filledIn.test(node.getText()) && !node.getText().includes(otherRun);
  return nodes.filter((node) => isWritten(node) || isFilledIn(node)).map((node) => `${path}: ${node.getText()}`);
}

const textNames = ['detail', 'hint', 'action', 'cure', 'subject'];

/**
 * Calls that search in texts for people in order to decide something. Output of nodes and programs is not meshwright's
 * text.
 */
function textReaders(path: string, text = textOf(path)): readonly string[] {
  if (!new RegExp(`\\b(?:${textNames.join('|')})\\b`).test(text)) return [];
  return methodCalls(path, text, (name, read, given) => {
    const isTaken = takesApart.includes(name) && !ts.isCallExpression(read) && textNames.includes(lastName(read));
    return isTaken || ((name === 'exec' || name === 'test') && textNames.includes(lastName(given)));
  });
}

describe('human-readable text', () => {
  const sources = filesBelow('src').filter((path) => path.endsWith('.ts') && !path.includes('.generated.'));

  it('is never read to make a decision', () => {
    expect(sources.flatMap((path) => textReaders(path))).toEqual([]);
  });

  it('contains commands only as data', () => {
    expect(sources.filter((path) => !isIn(manuals, path)).flatMap((path) => typedCommands(path))).toEqual([]);
  });

  it.each([
    "if (one.hint.startsWith('First ')) return",
    "subject?.replace(/^node /u, '')",
    'finding.hint.replace(new RegExp(removeBridge), x)',
    'detail.split(": ")',
    '/^link /.test(finding.subject)',
  ])('counts as read in %s', (planted) => {
    expect(textReaders('planted.ts', planted)).toHaveLength(1);
  });

  it.each([
    `\`Restart it: meshwright reboot $\{node}\``,
    '"Start it: meshwright apply"',
    "'(meshwright lease status)'",
    `\`$\{file} is a command: meshwright $\{file}.\``,
  ])('counts as containing a typed command in %s', (planted) => {
    expect(typedCommands('planted.ts', `const hint = ${planted}`)).toHaveLength(1);
  });
});
