/**
 * The mutation operators. Each operator finds its places in one file and returns the replacement for each: `{ operator,
 * start, end, text }`, in characters of the file. Code is located by the compiler's syntax tree, shell text by the
 * lines of template literals.
 */
import ts from 'typescript';

const { SyntaxKind: Kind } = ts;

const boundaries = new Map([
  [Kind.LessThanToken, '<='],
  [Kind.LessThanEqualsToken, '<'],
  [Kind.GreaterThanToken, '>='],
  [Kind.GreaterThanEqualsToken, '>'],
]);
const equalities = new Map([
  [Kind.EqualsEqualsEqualsToken, '!=='],
  [Kind.ExclamationEqualsEqualsToken, '==='],
]);
const junctions = new Map([
  [Kind.AmpersandAmpersandToken, '||'],
  [Kind.BarBarToken, '&&'],
]);
const signs = new Map([
  [Kind.PlusToken, '-'],
  [Kind.MinusToken, '+'],
]);
const opposites = { every: 'some', some: 'every' };

const replaced = (node, text) => ({ start: node.getStart(), end: node.end, text });

/** A different operator between the same operands. */
const swapped = (tokens) => (node) => {
  const text = ts.isBinaryExpression(node) ? tokens.get(node.operatorToken.kind) : undefined;
  return text === undefined ? [] : [replaced(node.operatorToken, text)];
};

const conditionOf = (node) => {
  if (ts.isConditionalExpression(node)) return node.condition;
  return ts.isIfStatement(node) || ts.isWhileStatement(node) ? node.expression : undefined;
};

/** The only statement of a branch that leaves its block early. */
const leaves = (branch) => {
  const [only, ...more] = ts.isBlock(branch) ? branch.statements : [branch];
  if (only === undefined || more.length > 0) return false;
  return [ts.isReturnStatement, ts.isThrowStatement, ts.isContinueStatement, ts.isBreakStatement].some((is) =>
    is(only),
  );
};

const methodOf = (node) =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) ? node.expression : undefined;

/** Whether a literal is a value instead of the name of a property or module. */
const isValue = (node) =>
  node.parent.name !== node &&
  !ts.isElementAccessExpression(node.parent) &&
  !(ts.isCallExpression(node.parent) && node.parent.expression.kind === Kind.ImportKeyword);

/** Operators for TypeScript: each returns the replacements for one node of the tree. */
const codeOperators = {
  boundary: swapped(boundaries),
  equality: swapped(equalities),
  'and-or': swapped(junctions),
  arithmetic: swapped(signs),
  'operand-dropped': (node) => {
    if (!ts.isBinaryExpression(node) || !junctions.has(node.operatorToken.kind)) return [];
    return [node.left, node.right].map((kept) => replaced(node, kept.getText()));
  },
  'condition-negated': (node) => {
    const condition = conditionOf(node);
    return condition === undefined ? [] : [replaced(condition, `!(${condition.getText()})`)];
  },
  'guard-removed': (node) =>
    ts.isIfStatement(node) && node.elseStatement === undefined && leaves(node.thenStatement)
      ? [replaced(node, ';')]
      : [],
  'fallback-removed': (node) =>
    ts.isBinaryExpression(node) && node.operatorToken.kind === Kind.QuestionQuestionToken
      ? [replaced(node, `(${node.left.getText()})!`), replaced(node, `(${node.right.getText()})`)]
      : [],
  'chain-required': (node) => {
    const token = node.questionDotToken;
    if (token === undefined) return [];
    return [replaced(token, ts.isPropertyAccessExpression(node) ? '!.' : '!')];
  },
  'true-false': (node) => {
    if (node.kind === Kind.TrueKeyword) return [replaced(node, 'false')];
    return node.kind === Kind.FalseKeyword ? [replaced(node, 'true')] : [];
  },
  'number-plus-one': (node) =>
    ts.isNumericLiteral(node) && isValue(node) ? [replaced(node, String(Number(node.text) + 1))] : [],
  'text-emptied': (node) =>
    ts.isStringLiteral(node) && node.text !== '' && isValue(node) ? [replaced(node, "''")] : [],
  'every-some': (node) => {
    const method = methodOf(node);
    const text = opposites[method?.name.text];
    return text === undefined ? [] : [replaced(method.name, text)];
  },
  'filter-dropped': (node) => {
    const method = methodOf(node);
    return method?.name.text === 'filter' ? [replaced(node, method.expression.getText())] : [];
  },
};

const skippedKinds = new Set([Kind.ImportDeclaration, Kind.ExportDeclaration, Kind.InterfaceDeclaration]);

function* nodesOf(node) {
  if (ts.isTypeNode(node) || skippedKinds.has(node.kind)) return;
  yield node;
  for (const child of node.getChildren()) yield* nodesOf(child);
}

const parse = (path, text) => ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);

/** All mutants of one file's TypeScript code. */
export function codeMutants(path, text) {
  const found = [...nodesOf(parse(path, text))].flatMap((node) =>
    Object.entries(codeOperators).flatMap(([operator, of]) => of(node).map((one) => ({ operator, ...one }))),
  );
  return distinct(found, text);
}

const isWholeLine = (line) => {
  const count = (pattern) => [...line.matchAll(pattern)].length;
  return (
    !/^\(|`|;;|(?<!\\)\\n|[\\{(]$/.test(line) &&
    count(/(?<!\\)'/g) % 2 === 0 &&
    count(/(?<!\\)"/g) % 2 === 0 &&
    count(/\{/g) === count(/\}/g) &&
    count(/\(/g) === count(/\)/g)
  );
};

const comparisons = { lt: 'le', le: 'lt', gt: 'ge', ge: 'gt', eq: 'ne', ne: 'eq' };
const keywords = '(?!\\|\\||&&|[)}]|(?:if|elif|else|then|while|until|for|case|do|done|fi|esac)\\b)';
const leaving = '(?:return|exit|continue|break|changed|unchanged|shown)';
const slug = '[\\w${}.-]+';

/** Operators for shell text: a pattern and the replacement for a match. Those with `isLine` match only whole lines. */
const shellOperators = {
  'failure-ignored': { pattern: ` \\|\\| failed ${slug} (?:'[^'\\n]*'|"(?:[^"\\\\\\n]|\\\\.)*")`, text: () => '' },
  'exit-unchecked': { pattern: `(?<=(?:^|\\|\\||&&|;|then|do|\\{) *)must ${slug} (?=[$"/\\w])`, text: () => '' },
  'command-dropped': {
    pattern: '(?<=^ *)(?:must |write |\\$\\{pathWord\\(tool\\.|"\\$R/(?:usr/)?s?bin/)(?!sleep)[^\\n]*$',
    text: () => ':',
    isLine: true,
  },
  'guard-dropped': {
    pattern: `(?<=^ *)${keywords}[^ \\n][^\\n]* (?:\\|\\||&&) ${leaving}\\b[^\\n]*$`,
    text: () => ':',
    isLine: true,
  },
  'wait-dropped': { pattern: '(?<=^ *until )[^\\n]*(?=; do$)', text: () => 'true', isLine: true },
  'test-negated': { pattern: '(?<![\\w$*?])\\[ (! )?(?=[-"$])', text: ([, not]) => (not ? '[ ' : '[ ! ') },
  'shell-and-or': { pattern: '(?<= \\] )(&&|\\|\\|)(?= \\[ )', text: ([, word]) => (word === '&&' ? '||' : '&&') },
  'shell-comparison': { pattern: '(?<= -)(lt|le|gt|ge|eq|ne)(?= [^ \\n]+ \\])', text: ([, word]) => comparisons[word] },
  'exit-changed': {
    pattern: '(?<=\\b(?:exit|return) )(\\d+|\\$\\{\\w+\\})',
    text: ([, code]) => (code === '0' ? '1' : '0'),
  },
};

/** The ranges of shell text: a node script without its header, or TypeScript template literals. */
function shellTexts(path, text) {
  if (path.endsWith('.sh')) return [[/^(?:#.*\n)*/.exec(text)[0].length, text.length]];
  return [...nodesOf(parse(path, text))]
    .filter((node) => ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node))
    .map((node) => [node.getStart() + 1, node.end - 1]);
}

/** All mutants of one file's shell text. */
export function shellMutants(path, text) {
  const found = shellTexts(path, text).flatMap(([from, end]) => {
    const shell = text.slice(from, end);
    return Object.entries(shellOperators).flatMap(([operator, { pattern, text: written, isLine }]) =>
      [...shell.matchAll(new RegExp(pattern, 'gm'))]
        .filter(([whole]) => !isLine || (shell.includes('\n') && isWholeLine(whole)))
        .map((match) => {
          const start = from + match.index;
          return { operator, start, end: start + match[0].length, text: written(match) };
        }),
    );
  });
  return distinct(found, text);
}

/** Each change once, with its lines before and after, by which readers and the list of equivalents identify it. */
function distinct(found, text) {
  const all = new Map();
  for (const one of found) {
    const key = `${one.start} ${one.end} ${one.text}`;
    if (text.slice(one.start, one.end) === one.text || all.has(key)) continue;
    const lineStart = text.lastIndexOf('\n', one.start - 1) + 1;
    const lineEnd = text.indexOf('\n', one.end);
    const tail = text.slice(one.end, lineEnd < 0 ? text.length : lineEnd);
    const head = text.slice(lineStart, one.start);
    const before = `${head}${text.slice(one.start, one.end)}${tail}`.trim();
    const line = text.slice(0, one.start).split('\n').length;
    all.set(key, { ...one, line, before, after: `${head}${one.text}${tail}`.trim() });
  }
  return [...all.values()];
}

/** A file's text with one mutant applied. */
export const mutated = (text, { start, end, text: written }) => `${text.slice(0, start)}${written}${text.slice(end)}`;
