// Rules that need types, and five rules of this project: paths on a Mac, commands for a node, diagnostic codes, time
// limits, and pure folders. Biome has all fast rules.
import layers from './scripts/layers.cjs';

const macFolders =
  '/^\\u002f(?:usr|bin|sbin|etc|var|tmp|private|opt|System|Library|Applications|Volumes|Users)(?:\\u002f|$)/';
const pathRule = 'Define a path on a node in src/node/paths/node-paths.ts, which adds the root prefix.';
const clockRule = 'A pure folder may not read a clock: pass the time as an argument.';
const reachRule = 'A pure folder may not access its surroundings: pass the value as an argument.';

const signals = [
  {
    selector: 'MemberExpression[object.name="AbortSignal"][property.name="timeout"]',
    message: 'Use setTimeout and clearTimeout: Node 20 loses such a limit inside of AbortSignal.any.',
  },
];
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
const isCode = '/^[a-z]+\\u002f[a-z]+(?:-[a-z0-9]+)*$/';
const codeRule = 'Decide by a trait, an area or another field of the diagnostic (hasTrait, areaOf), not by its code.';
const codes = [
  'BinaryExpression[left.name="code"][right.type="TemplateLiteral"]',
  'BinaryExpression[left.property.name="code"][right.type="TemplateLiteral"]',
  `BinaryExpression[left.name="code"][right.value=${isCode}]`,
  `BinaryExpression[left.property.name="code"][right.value=${isCode}]`,
  `:matches(ArrayExpression, SwitchCase) > Literal[value=${isCode}]`,
  'CallExpression[callee.object.name="code"][callee.property.name=/^(?:startsWith|includes|split)$/]',
  'CallExpression[callee.object.property.name="code"][callee.property.name=/^(?:startsWith|includes|split)$/]',
].map((selector) => ({ selector, message: codeRule }));
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
const nodePaths = 'src/node/paths/node-paths.ts';
const generated = '**/*.generated.ts';
const pureFiles = layers.pure.map((folder) => `src/${folder}/**/*.ts`);

export default {
  plugins: ['typescript'],
  jsPlugins: ['eslint-plugin-regexp', './scripts/forbidden-syntax.mjs'],
  categories: { correctness: 'off' },
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  },
  overrides: [
    {
      // A text that contains data would be shown as [object Object].
      files: ['src/**/*.ts'],
      excludeFiles: ['src/sim/**'],
      rules: {
        'typescript/no-base-to-string': 'error',
        'typescript/restrict-template-expressions': [
          'error',
          { allowNumber: true, allowBoolean: true, allowNullish: true },
        ],
      },
    },
    {
      // Text from a node, a server or a file must not make a pattern run for minutes.
      files: ['src/**/*.ts'],
      excludeFiles: [generated],
      rules: {
        'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
        'regexp/no-super-linear-move': ['error', { ignorePartial: false, report: 'potential' }],
      },
    },
    { files: ['src/**/*.ts'], rules: { 'forbidden/syntax': ['error', ...signals] } },
    {
      files: ['src/**/*.ts'],
      excludeFiles: [nodePaths, generated, 'src/sim/**'],
      rules: { 'forbidden/syntax': ['error', ...signals, ...paths, ...commands, ...codes] },
    },
    {
      files: pureFiles,
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
      files: pureFiles,
      excludeFiles: [nodePaths, generated],
      rules: { 'forbidden/syntax': ['error', ...signals, ...paths, ...commands, ...codes, ...clocks] },
    },
    { files: [nodePaths], rules: { 'forbidden/syntax': ['error', ...signals, ...clocks] } },
  ],
};
