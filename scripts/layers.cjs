/**
 * The import table of `docs/architecture.md` as data: dependency-cruiser makes its rules from it, and
 * `test/architecture` checks the folders, the pure sources and the document against it.
 */

/** Room of `src` → the rooms it may import besides itself. */
const layers = {
  model: [],
  diagnostics: ['model'],
  desired: ['model', 'diagnostics'],
  config: ['model', 'diagnostics', 'desired'],
  node: ['model'],
  drivers: ['model', 'diagnostics', 'desired', 'node'],
  rack: ['model', 'diagnostics', 'desired', 'node', 'drivers'],
  engine: ['model', 'diagnostics', 'desired', 'config', 'node', 'drivers', 'rack'],
  report: ['model', 'diagnostics', 'rack', 'engine'],
  remote: ['model', 'diagnostics', 'node'],
  native: ['model', 'diagnostics', 'node'],
  sim: ['model', 'diagnostics', 'native'],
  gateway: ['model'],
  secrets: ['model', 'diagnostics'],
};

/** The folder that can import everything; only the library imports it. */
const commandLine = 'cli';

layers.apply = Object.keys(layers).filter((folder) => folder !== 'sim' && folder !== 'report');
layers[commandLine] = Object.keys(layers);

/** Rooms with pure code, without I/O. */
const pure = ['model', 'diagnostics', 'desired', 'config', 'node', 'drivers', 'rack', 'engine', 'report'];

/** Package → the rooms that may import it. A package that is not listed may not be imported. */
const owners = {
  ssh2: ['remote', 'sim'],
  listr2: ['apply'],
  yaml: ['config', 'engine/playbooks'],
  ajv: ['config', 'engine/playbooks'],
  semver: ['config', 'desired'],
  pino: [commandLine, 'gateway'],
  commander: [commandLine],
};

/** The files directly in `src/rack`, on which every subject is based. */
const contract = 'contract';

/** The subjects of the rack, lowest first. A subject imports only from subjects in lower rows, and facts from any. */
const levels = [
  ['cabling'],
  [contract],
  [...['accounts', 'boot', 'clock', 'filevault', 'foreign-daemon', 'hold', 'identity', 'macos', 'records'], 'settings'],
  ['network'],
  ['access', 'bridge'],
  ['addresses'],
  ['keeper', 'rdma'],
  ['cables', 'memory', 'uninstall'],
  ['placement'],
  ['artifacts'],
];

const inFolder = (name) => `src/${name}/`;

/** A pattern for the rack files that have one of these names, or a name that ends with it after a hyphen. */
const named = (words) => `src/rack.*[/-](?:${words})\\.ts$`;

/**
 * The role of a rack file, shown by its folder or the end of its name, such as `hold-fact.ts`. All others in a subject
 * serve its resource; all others next to the subjects are readings.
 */
const roles = {
  geometry: ['src/rack/cabling/(?!.*reading\\.ts$)'],
  shape: ['src/rack/artifacts/shapes/'],
  mesh: ['src/rack/placement/mesh/'],
  // A setting in one file combines all roles. Only lists and the code that restores values import it.
  setting: ['src/rack/settings/(?!.*\\.(?:generated\\.ts|sh)$)', named('[a-z]+-setting')],
  script: [named('scripts?|scripts\\.generated'), 'src/rack/.*\\.sh$'],
  fact: [named('fact')],
  rule: [named('rule')],
};
const others = `(?!${Object.values(roles).flat().join('|')})`;
roles.reading = [named('reading'), `${others}(?!${named('resource|step')})src/rack/[^/]+$`];
roles.resource = [`${others}(?!${roles.reading.join('|')})src/rack/`];

/** Files in `node` that parse answers; all others generate scripts. */
const answerFiles = ['answers/', 'probes/stored-records\\.ts$'];

/**
 * Parts of rooms with an internal import order: each has patterns for its files, and the parts or whole rooms that it
 * may import besides itself. In `node`, `rack` and `engine`, every file belongs to one part.
 */
const parts = {
  'node/sent': { files: [`src/node/(?!${answerFiles.join('|')})`], mayImport: ['model'] },
  'node/answers': { files: answerFiles.map((one) => `src/node/${one}`), mayImport: ['model', 'node/sent'] },
  'rack/script': { files: roles.script, mayImport: ['model', 'node/sent'] },
  'rack/fact': { files: roles.fact, mayImport: ['model', 'node', 'rack/script'] },
  'rack/geometry': { files: roles.geometry, mayImport: ['model', 'diagnostics', 'rack/fact'] },
  'rack/shape': { files: roles.shape, mayImport: ['model', 'diagnostics'] },
  'rack/reading': {
    files: roles.reading,
    mayImport: ['model', 'diagnostics', 'desired', 'drivers', 'rack/fact', 'rack/geometry'],
  },
  'rack/rule': {
    files: roles.rule,
    mayImport: ['model', 'diagnostics', 'desired', 'drivers', 'rack/fact', 'rack/geometry', 'rack/reading'],
  },
  'rack/mesh': {
    files: roles.mesh,
    mayImport: ['model', 'diagnostics', 'desired', 'node', 'drivers', 'rack/script', 'rack/fact', 'rack/reading'],
  },
  'rack/resource': {
    files: roles.resource,
    mayImport: ['model', 'diagnostics', 'desired', 'node', 'drivers', 'rack'],
  },
  'rack/setting': { files: roles.setting, mayImport: ['model', 'diagnostics', 'desired', 'node', 'rack'] },
  'engine/file': { files: ['src/engine/load-cluster\\.ts$'], mayImport: ['model', 'config', 'drivers'] },
  'engine/scripts': {
    files: [inFolder('engine/scripts')],
    mayImport: ['model', 'node/sent', 'rack/script', 'rack/setting'],
  },
  'engine/observe': { files: [inFolder('engine/observe')], mayImport: ['model', 'node', 'rack/fact', 'rack/setting'] },
  'engine/graph': {
    files: ['src/engine/rack-graph\\.ts$'],
    mayImport: ['model', 'diagnostics', 'desired', 'rack/fact', 'rack/geometry', 'rack/reading'],
  },
  'engine/diagnose': {
    files: [inFolder('engine/diagnose')],
    mayImport: ['model', 'diagnostics', 'desired', 'rack', 'engine/observe'],
  },
  'engine/cables': {
    files: [inFolder('engine/cables')],
    mayImport: ['model', 'diagnostics', 'desired', 'rack', 'engine/observe', 'engine/diagnose'],
  },
  'engine/resources': { files: ['src/engine/resources\\.ts$'], mayImport: ['rack/resource', 'rack/setting'] },
  'engine/goals': {
    files: [inFolder('engine/goals')],
    mayImport: [
      ...['model', 'diagnostics', 'desired', 'rack/fact', 'rack/reading', 'rack/resource'],
      ...['engine/diagnose', 'engine/resources'],
    ],
  },
  'engine/plan': {
    files: [inFolder('engine/plan')],
    mayImport: [
      ...['model', 'diagnostics', 'desired', 'rack/fact', 'rack/reading', 'rack/rule', 'rack/resource', 'rack/setting'],
      ...['engine/observe', 'engine/diagnose', 'engine/resources', 'engine/goals'],
    ],
  },
  'engine/playbooks': {
    files: [inFolder('engine/playbooks')],
    mayImport: [
      ...['model', 'diagnostics', 'desired', 'config', 'rack/reading', 'rack/mesh', 'rack/resource'],
      ...['engine/plan', 'engine/goals'],
    ],
  },
  report: {
    files: [inFolder('report')],
    mayImport: [
      ...['model', 'diagnostics', 'rack/fact', 'rack/reading', 'rack/rule', 'rack/resource', 'engine/observe'],
      ...['engine/graph', 'engine/diagnose', 'engine/cables', 'engine/resources', 'engine/plan', 'engine/goals'],
    ],
  },
  remote: { files: [inFolder('remote')], mayImport: ['model', 'diagnostics', 'node/sent'] },
  native: { files: [inFolder('native')], mayImport: ['model', 'diagnostics', 'node/sent'] },
};

/** One pattern for the files of these parts and rooms. */
const filesOf = (names) => `^(?:${names.flatMap((name) => parts[name]?.files ?? [inFolder(name)]).join('|')})`;

/** Whether a file generates text for a node's shell. */
const isScript = (path) => new RegExp(filesOf(['node/sent', 'rack/script', 'engine/scripts'])).test(path);

/** Whether a file contains shell text for nodes, possibly next to other parts of a setting. */
const hasScript = (path) => isScript(path) || new RegExp(filesOf(['rack/setting'])).test(path);

module.exports = { commandLine, contract, filesOf, hasScript, isScript, layers, levels, owners, parts, pure };
