import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesBelow, textOf } from './sources.ts';
import { nodesOf, parse } from './syntax.ts';

const takesApart = ['split', 'startsWith', 'endsWith', 'includes', 'indexOf', 'match', 'replace', 'replaceAll'];

/** The last word of `step.resource` or `change.address`. */
const lastName = (node: ts.Node | undefined): string =>
  node === undefined ? '' : (/\w+$/.exec(node.getText().replace(/[()?!]/g, ''))?.[0] ?? '');

const isAddress = (node: ts.Node | undefined): boolean => ['address', 'resource'].includes(lastName(node));

const hasSlash = (node: ts.Node | undefined): boolean => node?.getText().slice(1, -1).includes('/') === true;

/** Calls that take the address of a property apart; addresses of networks have other separators. */
function addressReaders(path: string, text = textOf(path)): readonly string[] {
  // Most files have no such call at all, and parsing takes its time.
  if (!/(?:address|resource)[)?!]*\.\w|\.(?:exec|test)\(/.test(text)) return [];
  return [...nodesOf(parse(path, text))].filter(ts.isCallExpression).flatMap((call) => {
    const { expression, arguments: given } = call;
    if (!ts.isPropertyAccessExpression(expression)) return [];
    const name = expression.name.text;
    const isTaken = takesApart.includes(name) && isAddress(expression.expression) && hasSlash(given[0]);
    const isTested =
      (name === 'exec' || name === 'test') && isAddress(given[0]) && expression.expression.getText().includes('\\/');
    return isTaken || isTested ? [`${path}: ${call.getText()}`] : [];
  });
}

describe('the address of a property', () => {
  const sources = filesBelow('src').filter((path) => path.endsWith('.ts') && path !== 'src/model/address.ts');

  it('is read by no decision: its parts are data', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.flatMap((path) => addressReaders(path))).toEqual([]);
  });

  it.each([
    "const [kind] = property.address.split('/')",
    "const name = earlier.address?.split('/')[1]",
    'resource.startsWith(`placement/${name}/`)',
    "address.slice(address.indexOf('/') + 1)",
    String.raw`/^doorman\/(\d+)$/.exec(address)`,
    String.raw`/^placement(?:\/|$)/.test(one.resource)`,
  ])('is not taken apart by %s', (planted) => {
    expect(addressReaders('planted.ts', planted)).toHaveLength(1);
  });

  it.each(["ipv4.address.split('.')", "address.startsWith('169.254.')", "path.split('/')", '/^fe80:/.test(address)'])(
    'is not meant by %s',
    (fine) => {
      expect(addressReaders('fine.ts', fine)).toEqual([]);
    },
  );
});
