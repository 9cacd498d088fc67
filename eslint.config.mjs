// The rules that need types, and three of ours: paths of a Mac, commands for a node, and what pure folders may touch.
// Everything quick is Biome's.
import { createRequire } from 'node:module';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const { pure } = createRequire(import.meta.url)('./scripts/layers.cjs');

const macFolders =
  '/^\\u002f(?:usr|bin|sbin|etc|var|tmp|private|opt|System|Library|Applications|Volumes|Users)(?:\\u002f|$)/';
const pathRule = 'A path on a node belongs into src/node/paths/node-paths.ts, where its root prefix is put before it.';
const clockRule = 'A pure folder has no clock: take the time as an argument.';
const reachRule = 'A pure folder reaches nothing: take the value as an argument.';

const paths = [
  { selector: `Literal[value=${macFolders}]`, message: pathRule },
  { selector: `TemplateElement:first-child[value.cooked=${macFolders}]`, message: pathRule },
];
const builtText = '/^(?:TemplateLiteral|BinaryExpression)$/';
const commandRule =
  'A command for a node is made in a script of src/node or of a subject, where quote() makes words of texts.';
const commands = [
  { selector: `CallExpression[callee.property.name="exec"][arguments.0.type=${builtText}]`, message: commandRule },
  { selector: `Property[key.name="command"][value.type=${builtText}]`, message: commandRule },
];
const clocks = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: clockRule },
  { selector: 'CallExpression[callee.name="Date"]', message: clockRule },
  {
    selector: 'ImportDeclaration[source.value=/^(?:node:)?crypto$/] ImportSpecifier[imported.name!="createHash"]',
    message: reachRule,
  },
];
const timers = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'performance'];
const outside = ['process', 'console', 'fetch', 'crypto', 'navigator', 'require', 'WebSocket', 'BroadcastChannel'];

export default tseslint.config(
  { ignores: ['dist/**', 'dist-*/**', 'coverage/**', 'node_modules/**', '**/*.generated.ts'] },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true } },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // A text with data in it would be shown as [object Object].
    files: ['src/**/*.ts'],
    ignores: ['src/sim/**'],
    rules: {
      '@typescript-eslint/no-base-to-string': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
    },
  },
  {
    // Words of a node, a server or a file must not be able to make a pattern search for minutes.
    files: ['src/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { ignorePartial: false, report: 'potential' }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/node/paths/node-paths.ts', 'src/sim/**'],
    rules: { 'no-restricted-syntax': ['error', ...paths, ...commands] },
  },
  {
    files: pure.map((folder) => `src/${folder}/**/*.ts`),
    rules: {
      'no-restricted-globals': [
        'error',
        ...timers.map((name) => ({ name, message: clockRule })),
        ...outside.map((name) => ({ name, message: reachRule })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: clockRule },
        { object: 'Math', property: 'random', message: reachRule },
        { object: 'globalThis', message: reachRule },
      ],
    },
  },
  {
    files: pure.map((folder) => `src/${folder}/**/*.ts`),
    ignores: ['src/node/paths/node-paths.ts'],
    rules: { 'no-restricted-syntax': ['error', ...paths, ...commands, ...clocks] },
  },
  { files: ['src/node/paths/node-paths.ts'], rules: { 'no-restricted-syntax': ['error', ...clocks] } },
);
