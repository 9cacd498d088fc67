/** The import rules, all derived from one table: a room may import itself and the rooms in its row. */
const { commandLine, contract, filesOf, layers, levels, owners, parts, pure } = require('./scripts/layers.cjs');

const inFolder = (names) => `^src/(?:${names.join('|')})/`;
const allRows = Object.keys(layers);

/** One rule per row: importing anything in src that the row does not list is an error. */
const layerRules = Object.entries(layers).map(([folder, mayImport]) => ({
  name: `layer-${folder}`,
  comment: `${folder} may import only ${[folder, ...mayImport].join(', ')}.`,
  severity: 'error',
  from: { path: inFolder([folder]) },
  to: { path: '^src/', pathNot: inFolder([folder, ...mayImport]) },
}));

/** One rule per part of a room: a file's role decides, wherever the file is. */
const partRules = Object.entries(parts).map(([part, { mayImport }]) => ({
  name: `part-${part.replace('/', '-')}`,
  comment: `${part} may import only ${[part, ...mayImport].join(', ')}.`,
  severity: 'error',
  from: { path: filesOf([part]) },
  to: { path: '^src/', pathNot: filesOf([part, ...mayImport]) },
}));

/** The files of rack subjects; the contract consists of the files next to their folders. */
const inSubjects = (subjects) =>
  `^src/rack/(?:${subjects.map((subject) => (subject === contract ? '[^/]+$' : `${subject}/`)).join('|')})`;

/** One rule per subject: it may import itself, lower levels, and the facts of any subject. */
const levelRules = levels.flatMap((level, at) =>
  level.map((subject) => ({
    name: `level-${subject}`,
    comment: `${subject} may import only facts, and subjects of lower levels: ${levels.slice(0, at).flat().join(', ')}.`,
    severity: 'error',
    from: { path: inSubjects([subject]) },
    to: { path: '^src/rack/', pathNot: [inSubjects([subject, ...levels.slice(0, at).flat()]), filesOf(['rack/fact'])] },
  })),
);

/** One rule per package: only its owners may import it. */
const ownerRules = Object.entries(owners).map(([name, folders]) => ({
  name: `package-${name}`,
  comment: `${name} may be imported only in ${folders.join(', ')}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: inFolder(folders) },
  to: { path: `(?:^|/)node_modules/(?:@types/)?${name}(?:/|$)|^${name}(?:/|$)` },
}));

module.exports = {
  forbidden: [
    ...layerRules,
    ...partRules,
    ...levelRules,
    ...ownerRules,
    {
      name: 'pure-folders',
      comment: 'Pure folders use no files, network, processes, clocks or environment.',
      severity: 'error',
      from: { path: inFolder(pure) },
      to: {
        dependencyTypes: ['core'],
        path: '^(?:node:)?(?:fs|net|child_process|os|process|timers|http|https|http2|dgram|dns|tls|tty|readline|cluster|worker_threads|inspector|perf_hooks|v8|vm)(?:/|$)',
      },
    },
    {
      name: 'known-folder',
      comment: 'Every folder in src needs a row in scripts/layers.cjs; only index.ts is outside of these folders.',
      severity: 'error',
      from: { path: '^src/', pathNot: `${inFolder(allRows)}|^src/index\\.ts$` },
      to: {},
    },
    {
      name: 'known-part',
      comment: 'Every file in node, rack and engine must belong to a part in scripts/layers.cjs.',
      severity: 'error',
      from: { path: inFolder(['node', 'rack', 'engine']), pathNot: filesOf(Object.keys(parts)) },
      to: {},
    },
    {
      name: 'known-subject',
      comment: 'Every rack subject needs a level in scripts/layers.cjs.',
      severity: 'error',
      from: { path: inFolder(['rack']), pathNot: inSubjects(levels.flat()) },
      to: {},
    },
    {
      name: 'only-the-library-imports-the-command-line',
      comment:
        'cli reads files, builds objects and sets the exit code; only the library (index.ts) does the same for programs.',
      severity: 'error',
      from: { path: '^src/', pathNot: `${inFolder([commandLine])}|^src/index\\.ts$` },
      to: { path: `${inFolder([commandLine])}|^src/index\\.ts$` },
    },
    {
      name: 'no-cycle',
      comment: 'Files in an import cycle, including type imports, should be one file.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-orphan',
      comment: 'A file without imports that no other file imports is unused.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '^src/index\\.ts$' },
      to: {},
    },
    {
      name: 'src-without-tests',
      comment: 'Shipped code must not import tests or scripts.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(?:test|scripts)/' },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that cannot be resolved would fail for users.',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'unlisted-package',
      comment: 'Only packages with an owner in scripts/layers.cjs may be shipped; development packages have none.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: '(?:^|/)node_modules/',
        pathNot: `(?:^|/)node_modules/(?:@types/)?(?:${Object.keys(owners).join('|')})/`,
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    detectProcessBuiltinModuleCalls: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
