/**
 * Who may import whom. The table is the whole rule: a room may import itself and what its row lists. Rows of rooms
 * that do not exist yet are agreed already, so that the first file in one of them is checked.
 */
const { commandLine, contract, filesOf, layers, levels, owners, parts, pure } = require('./scripts/layers.cjs');

const inFolder = (names) => `^src/(?:${names.join('|')})/`;
const allRows = Object.keys(layers);

/** One rule per row: everything below src that the row does not list is an error. */
const layerRules = Object.entries(layers).map(([folder, mayImport]) => ({
  name: `layer-${folder}`,
  comment: `${folder} may import only ${[folder, ...mayImport].join(', ')}.`,
  severity: 'error',
  from: { path: inFolder([folder]) },
  to: { path: '^src/', pathNot: inFolder([folder, ...mayImport]) },
}));

/** One rule per part of a room: the role of a file decides, wherever it lies. */
const partRules = Object.entries(parts).map(([part, { mayImport }]) => ({
  name: `part-${part.replace('/', '-')}`,
  comment: `${part} may import only ${[part, ...mayImport].join(', ')}.`,
  severity: 'error',
  from: { path: filesOf([part]) },
  to: { path: '^src/', pathNot: filesOf([part, ...mayImport]) },
}));

/** The files of subjects of the rack; the contract is the files beside their folders. */
const inSubjects = (subjects) =>
  `^src/rack/(?:${subjects.map((subject) => (subject === contract ? '[^/]+$' : `${subject}/`)).join('|')})`;

/** One rule per subject: it sees itself, the levels below its own, and the facts of all. */
const levelRules = levels.flatMap((level, at) =>
  level.map((subject) => ({
    name: `level-${subject}`,
    comment: `${subject} may import only facts, and subjects of lower levels: ${levels.slice(0, at).flat().join(', ')}.`,
    severity: 'error',
    from: { path: inSubjects([subject]) },
    to: {
      path: '^src/rack/',
      pathNot: [inSubjects([subject, ...levels.slice(0, at).flat()]), filesOf(['rack/fact'])],
    },
  })),
);

/** One rule per package that has a home: nobody else may import it. */
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
      comment: 'These folders decide and never reach out: no files, network, processes, clocks or environment.',
      severity: 'error',
      from: { path: inFolder(pure) },
      to: {
        dependencyTypes: ['core'],
        path: '^(?:node:)?(?:fs|net|child_process|os|process|timers|http|https|http2|dgram|dns|tls|tty|readline|cluster|worker_threads|inspector|perf_hooks|v8|vm)(?:/|$)',
      },
    },
    {
      name: 'known-folder',
      comment: 'Every folder below src has a row in scripts/layers.cjs; only index.ts lies beside them.',
      severity: 'error',
      from: { path: '^src/', pathNot: `${inFolder(allRows)}|^src/index\\.ts$` },
      to: {},
    },
    {
      name: 'known-part',
      comment: 'Every file of node, rack and engine belongs to a part in scripts/layers.cjs.',
      severity: 'error',
      from: { path: inFolder(['node', 'rack', 'engine']), pathNot: filesOf(Object.keys(parts)) },
      to: {},
    },
    {
      name: 'known-subject',
      comment: 'Every subject of the rack has a level in scripts/layers.cjs.',
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
      comment: 'A cycle, type imports included, means that two files are one.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-orphan',
      comment: 'A file that nobody imports and that imports nothing does nothing.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '^src/index\\.ts$' },
      to: {},
    },
    {
      name: 'src-without-tests',
      comment: 'What ships never needs what tests it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(?:test|scripts)/' },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that leads nowhere fails on the first user.',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'unlisted-package',
      comment: 'A package that ships has a home in scripts/layers.cjs; a development package has none.',
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
