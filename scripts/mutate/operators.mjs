/**
 * The mutation operators. Each finds its places in one file and returns changes: `{ operator, start, end, text }`, in
 * characters of the file. Code is located by the compiler's syntax tree, shell text by patterns.
 */
import ts from 'typescript';

const { SyntaxKind: Kind } = ts;

/** Pairs of words, such as `a b, c d`, as a map in both directions. */
const pairs = (text) => new Map(text.split(', ').flatMap((pair) => [pair.split(' '), pair.split(' ').reverse()]));

const methodOf = (node) =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) ? node.expression.name : undefined;

/** An operator between two values, a keyword, or the name of a called method. */
function wordOf(node) {
  const isOperator = node.parent?.operatorToken === node;
  const isKeyword = node.kind >= Kind.FirstKeyword && node.kind <= Kind.LastKeyword;
  if (isOperator || isKeyword) return ts.tokenToString(node.kind);
  const call = ts.isIdentifier(node) ? node.parent.parent : undefined;
  return call !== undefined && methodOf(call) === node ? node.text : undefined;
}

/** Signs, keywords and methods of TypeScript that replace each other. */
const opposites = Object.entries({
  boundary: '< <=, > >=',
  equality: '=== !==',
  'and-or': '&& ||',
  arithmetic: '+ -, * /, += -=',
  'true-false': 'true false',
  'loop-left': 'break continue',
  'every-some': 'every some',
  'min-max': 'min max, floor ceil',
  'first-last': 'shift pop, find findLast, findIndex findLastIndex, indexOf lastIndexOf, startsWith endsWith',
}).map(([operator, words]) => {
  const others = pairs(words);
  return [operator, (node) => others.has(wordOf(node)), (node) => [others.get(wordOf(node))]];
});

const replaced = (node, text) => ({ start: node.getStart(), end: node.end, text });
const changeBy = (node, one) => (one.start === undefined ? replaced(node, one.getText?.() ?? one) : one);

const signOf = (node) => node.operatorToken?.getText();

/** Whether an `if` without `else` only leaves its block. */
const isGuard = ({ thenStatement, elseStatement }) =>
  elseStatement === undefined && /^(?:\{\s*)?(?:return|throw|continue|break)\b/.test(thenStatement?.getText() ?? '');

/** Whether a literal is a value instead of the name of a property or module. */
const isValue = (node) =>
  node.parent.name !== node &&
  !ts.isElementAccessExpression(node.parent) &&
  !(ts.isCallExpression(node.parent) && node.parent.expression.kind === Kind.ImportKeyword);

const isNumber = (node) => ts.isNumericLiteral(node) && isValue(node);
const conditionOf = (node) =>
  node.condition ?? (ts.isIfStatement(node) || ts.isWhileStatement(node) ? node.expression : undefined);
const droppable = 'filter flat reverse slice sort toReversed toSorted toLowerCase trim trimEnd'.split(' ');

/** Removes each member of a list in turn, with its comma. */
const eachDropped = (list) =>
  list.map((one, at) => {
    const start = at === list.length - 1 ? list[at - 1]?.end : undefined;
    return { start: start ?? one.getStart(), end: list[at + 1]?.getStart() ?? list.end, text: '' };
  });

const swapped = (one, other) => ({ ...replaced(one, `${other.getText()}, ${one.getText()}`), end: other.end });
const neighborsSwapped = (list) => list.slice(1).map((one, at) => swapped(list[at], one));

/** Operators for TypeScript: the nodes that they change, and what replaces a node: texts, parts of it, or changes. */
const codeOperators = [
  ...opposites,
  ['operand-dropped', (node) => ['&&', '||'].includes(signOf(node)), ({ left, right }) => [left, right]],
  ['condition-negated', conditionOf, (node) => [replaced(conditionOf(node), `!(${conditionOf(node).getText()})`)]],
  ['branch-chosen', ts.isConditionalExpression, ({ whenTrue, whenFalse }) => [whenTrue, whenFalse]],
  ['guard-removed', isGuard, () => [';']],
  ['statement-dropped', ts.isExpressionStatement, () => [';']],
  ['else-dropped', (node) => node.parent?.elseStatement === node, () => [';']],
  ['case-dropped', ts.isCaseClause, () => ['']],
  ['await-dropped', ts.isAwaitExpression, ({ expression }) => [expression]],
  ['not-dropped', (node) => node.operator === Kind.ExclamationToken, ({ operand }) => [operand]],
  ['fallback-removed', (node) => signOf(node) === '??', ({ left, right }) => [`(${left.getText()})!`, right]],
  ['chain-required', ts.isQuestionDotToken, ({ parent }) => [ts.isPropertyAccessExpression(parent) ? '!.' : '!']],
  ['number-plus-one', isNumber, ({ text }) => [`${Number(text) + 1}`]],
  ['number-scaled', isNumber, ({ text }) => [`${Number(text) * 10}`, `${Math.trunc(Number(text) / 10)}`]],
  ['text-emptied', (node) => ts.isStringLiteral(node) && isValue(node), () => ["''"]],
  ['call-dropped', (node) => droppable.includes(methodOf(node)?.text), (node) => [node.expression.expression]],
  ['arguments-swapped', (node) => node.arguments, (node) => neighborsSwapped(node.arguments)],
  ['element-dropped', ts.isArrayLiteralExpression, (node) => eachDropped(node.elements)],
  ['property-dropped', ts.isObjectLiteralExpression, (node) => eachDropped(node.properties)],
  ['anchor-dropped', ts.isRegularExpressionLiteral, ({ text }) => [text.replace('/^', '/'), text.replace('$/', '/')]],
];

const changesOf = (node) =>
  codeOperators
    .filter(([, isChanged]) => isChanged(node))
    .flatMap(([operator, , made]) => made(node).map((one) => ({ operator, ...changeBy(node, one) })));

const withoutValues = [Kind.ImportDeclaration, Kind.ExportDeclaration, Kind.InterfaceDeclaration];

function* nodesOf(node) {
  if (ts.isTypeNode(node) || withoutValues.includes(node.kind)) return;
  yield node;
  for (const child of node.getChildren()) yield* nodesOf(child);
}

const others = pairs('lt le, gt ge, eq ne, -z -n, -e -d, -f -h, -s -r, = !=, && ||, + -, # ##, % %%, break continue');
const other = (word) => others.get(word) ?? word;

/** Operators for shell text: a pattern, and what replaces its matches. Only whole commands are replaced by `:`. */
const shellOperators = [
  ['shell-statement-dropped', /(?<=^ *)[\w"$[].*$/gm, ':'],
  ['command-dropped', /(?<=^ *)(?:must |write |\$\{pathWord\(tool\.|"\$R\/(?:usr\/)?s?bin\/)(?!sleep).*$/gm, ':'],
  ['shell-guard-dropped', /(?<=^ *)\S.* (?:\|\||&&) (?:return|exit|continue|break|(?:un)?changed)\b.*$/gm, ':'],
  ['failure-ignored', / \|\| failed [\w${}.-]+ (?:'[^'\n]*'|"(?:[^"\\\n]|\\.)*")/gm, ''],
  ['exit-unchecked', /(?<=(?:^|\|\||&&|;|then|do|\{) *)must [\w${}.-]+ (?=[$"/\w])/gm, ''],
  ['wait-dropped', /(?<=^ *until ).*(?=; do$)/gm, 'true'],
  ['test-negated', /(?<![\w$*?])\[ (?:! )?(?=[-"$])/gm, (test) => (test === '[ ' ? '[ ! ' : '[ ')],
  ['shell-not-dropped', /(?<=(?:if|while|until|\{|&&|\|\||;) )! /gm, ''],
  ['shell-and-or', /(?<= )(?:&&|\|\|)(?= (?!failed))/gm, other],
  ['shell-comparison', /(?<= -)(?:lt|le|gt|ge|eq|ne)(?= \S+ \])/gm, other],
  ['shell-equality', /(?<=\[ [^\]\n]* )!?=(?= [^\]\n]*\])/gm, other],
  ['test-kind', /(?<=\[ (?:! )?)-[a-z](?= )/gm, other],
  ['exit-changed', /(?<=\b(?:exit|return) )(?:\d+|\$\{\w+\})/gm, (code) => (code === '0' ? '1' : '0')],
  ['option-dropped', /(?<=^[^[\n]*[\w"})] )-[a-zA-Z]+ /gm, ''],
  ['redirection-dropped', / (?:\d?>>?|<)(?:&\d|\/dev\/null|"[^"\n]*")/gm, ''],
  ['append-or-overwrite', /(?<![\d>&=-])>>?(?=")/gm, (sign) => (sign === '>' ? '>>' : '>')],
  ['shell-number-scaled', /(?<=(?<!exit|return)[ =])[1-9]\d*(?=[ ;)]|$)/gm, (number) => `${number}0`],
  ['shell-arithmetic', /(?<=\$\(\([^)\n]* )[+-](?= [^)\n]*\)\))/gm, other],
  ['longest-match', /(?<=\$\{\w+)(?:##?|%%?)(?=[^}\n])/gm, other],
  ['default-dropped', /(?<=\$\{\w+):?-[^{}\n]*(?=\})/gm, ''],
  ['shell-else-dropped', /^( *)else\n[\s\S]*?(?=^\1fi\b)/gm, ''],
  ['shell-case-dropped', /(?<=^ *|;; |in )\([^()\n]+\) [^;\n]+;; ?/gm, ''],
  ['shell-loop-left', /\b(?:break|continue)\b(?= ?;|$)/gm, other],
];

const partial =
  /^(?:if|elif|else|then|while|until|for|case|do|done|fi|esac)\b|^[(){}]|^\|\||^&&|`|;;|(?<!\\)\\n|[\\{(;]$/;

/** Whether a line is a whole command, which opens nothing that another line closes. */
function isCommand(line) {
  const count = (pattern) => line.split(pattern).length;
  const isEven = [/(?<!\\)'/, /(?<!\\)"/].every((quote) => count(quote) % 2 === 1);
  return isEven && !partial.test(line) && count('{') === count('}') && count('(') === count(')');
}

function shellChanges(text, from) {
  const shell = text.replaceAll(/^ *#.*$/gm, (comment) => ' '.repeat(comment.length));
  return shellOperators.flatMap(([operator, pattern, made]) =>
    [...shell.matchAll(pattern)]
      .filter(([line]) => made !== ':' || (shell.includes('\n') && isCommand(line)))
      .map(({ 0: match, index }) => {
        const start = from + index;
        const written = typeof made === 'string' ? made : made(match);
        return { operator, start, end: start + match.length, text: written, isShell: true };
      }),
  );
}

/** All mutants of a file, each change once: of its TypeScript, and of its shell text if it is a script. */
export function mutantsOf(path, text, isScript) {
  const nodes = path.endsWith('.ts') ? [...nodesOf(ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true))] : [];
  const templates = nodes.filter((node) => ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node));
  const inCode = templates.map((node) => [node.getStart() + 1, node.end - 1]);
  const shell = path.endsWith('.sh') ? [[/^(?:#.*\n)*/.exec(text)[0].length, text.length]] : inCode;
  const changes = [
    ...nodes.flatMap(changesOf),
    ...(isScript ? shell.flatMap(([from, end]) => shellChanges(text.slice(from, end), from)) : []),
  ].filter((one) => text.slice(one.start, one.end) !== one.text);
  return [...new Map(changes.map((one) => [`${one.start} ${one.end} ${one.text}`, one])).values()];
}

/** A file's text with one mutant applied. */
export const mutated = (text, { start, end, text: written }) => `${text.slice(0, start)}${written}${text.slice(end)}`;

/** The place of a mutant for readers: its line number, and its lines before and after the change. */
export function placeOf(text, mutant) {
  const from = text.lastIndexOf('\n', mutant.start - 1) + 1;
  const to = `${text}\n`.indexOf('\n', mutant.end);
  const longer = mutant.text.length - (mutant.end - mutant.start);
  const [before, after] = [text.slice(from, to), mutated(text, mutant).slice(from, to + longer)];
  return { line: text.slice(0, from).split('\n').length, before: before.trim(), after: after.trim() };
}
