// Rules that need types, and three rules of this project: paths on a Mac, commands for a node, and pure folders. Biome
// has all fast rules.
import { createRequire } from 'node:module';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const { pure } = createRequire(import.meta.url)('./scripts/layers.cjs');

const macFolders =
  '/^\\u002f(?:usr|bin|sbin|etc|var|tmp|private|opt|System|Library|Applications|Volumes|Users)(?:\\u002f|$)/';
const pathRule = 'Define a path on a node in src/node/paths/node-paths.ts, which adds the root prefix.';
const clockRule = 'A pure folder may not read a clock: pass the time as an argument.';
const reachRule = 'A pure folder may not access its surroundings: pass the value as an argument.';

const paths = [
  { selector: `Literal[value=${macFolders}]`, message: pathRule },
  { selector: `TemplateElement:first-child[value.cooked=${macFolders}]`, message: pathRule },
];
const builtText = '/^(?:TemplateLiteral|BinaryExpression)$/';
const commandRule =
  'Build a command for a node in a script of src/node or of a subject, and quote its arguments with quote().';
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
    // A text that contains data would be shown as [object Object].
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
    // Text from a node, a server or a file must not make a pattern run for minutes.
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
