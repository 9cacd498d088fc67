import ts from 'typescript';
import { longestWaitMs } from '../until.ts';
import { nodesOf, parse } from './syntax.ts';

/** The time limit of a test without its own limit, in `vitest.config.ts`. */
const testLimitMs = 120_000;

const isOfVitest = /^(?:it|test|describe|beforeAll|beforeEach|afterAll|afterEach)\b/;
const isWait = /^vi\.wait(?:For|Until)$/;
const isClock = /^(?:performance|Date)\.now\(\)$/;
const isPause = /^(?:setTimeout|sleep|pause)$/;

/** The only files with limits are those that contain one of these. */
const candidates =
  /\d_000,?\s*\);|\btimeout: |\.timeout\(|vi\.wait|now\(\) \+ |\bfor \(.* < .*\{?[^}]*?(?:setTimeout|sleep|pause)\(/;

/** A number of milliseconds, also of a constant of the same file; infinite if it is not known. */
function msOf(node: ts.Expression | undefined): number {
  if (node === undefined) return Number.POSITIVE_INFINITY;
  if (ts.isNumericLiteral(node)) return Number(node.text.replaceAll('_', ''));
  if (!ts.isIdentifier(node)) return Number.POSITIVE_INFINITY;
  const made = node.getSourceFile().text.match(new RegExp(`\\bconst ${node.text} = ([\\d_]+);`));
  return made === null ? Number.POSITIVE_INFINITY : Number(made[1]?.replaceAll('_', ''));
}

const timeoutIn = (node: ts.Expression): ts.Expression | undefined =>
  ts.isObjectLiteralExpression(node)
    ? node.properties.filter((one) => ts.isPropertyAssignment(one)).find((one) => one.name.getText() === 'timeout')
        ?.initializer
    : node;

function isShortCall({ expression, arguments: given }: ts.CallExpression): boolean {
  const name = expression.getText();
  if (isOfVitest.test(name)) return given.slice(1).some((one) => msOf(timeoutIn(one)) <= testLimitMs);
  if (name === 'AbortSignal.timeout') return msOf(given[0]) < longestWaitMs;
  // Without a limit, these functions wait for a second.
  const limit = given[1] === undefined ? undefined : timeoutIn(given[1]);
  return isWait.test(name) && (limit === undefined || msOf(limit) < longestWaitMs);
}

/** True if a loop that counts its pauses ends early. */
function isShortLoop({ condition, statement, incrementor }: ts.ForStatement): boolean {
  const within = [condition, statement, incrementor].flatMap((one) => (one === undefined ? [] : nodesOf(one)));
  const counts = within
    .filter((one) => ts.isBinaryExpression(one))
    .filter(({ operatorToken }) => operatorToken.kind === ts.SyntaxKind.LessThanToken);
  const pauses = within
    .filter((one) => ts.isCallExpression(one))
    .filter(({ expression }) => isPause.test(expression.getText()));
  const msOfPause = Math.min(...pauses.map(({ arguments: given }) => Math.min(...given.map(msOf))));
  return counts.some(({ right }) => msOf(right) * msOfPause < longestWaitMs);
}

function isShort(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) return isShortCall(node);
  if (ts.isForStatement(node)) return isShortLoop(node);
  if (ts.isPropertyAssignment(node)) return node.name.getText() === 'timeout' && msOf(node.initializer) < longestWaitMs;
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return false;
  return isClock.test(node.left.getText()) && msOf(node.right) < longestWaitMs;
}

/** The lines of a file that limit a test, or a wait in a test, to less time than a busy machine needs. */
export function shortLimitsIn(path: string, text: string): readonly string[] {
  if (!candidates.test(text)) return [];
  const file = parse(path, text);
  const places = nodesOf(file)
    .filter(isShort)
    .map((node) => file.getLineAndCharacterOfPosition(node.getStart()));
  return [...new Set(places.map(({ line }) => `${path}:${line + 1}`))];
}
