/**
 * The import table of `docs/architecture.md` as data: dependency-cruiser makes its rules from it, and
 * `test/architecture` checks the folders, the pure sources and the document against it.
 */
const belowMesh = ['model', 'diagnostics', 'desired', 'script', 'facts', 'runtimes'];

/** Folder → what it may import besides itself. */
const layers = {
  model: [],
  diagnostics: ['model'],
  script: ['model'],
  desired: ['model', 'diagnostics'],
  config: ['model', 'diagnostics', 'desired'],
  facts: ['model', 'diagnostics', 'script'],
  cabling: ['model', 'diagnostics'],
  models: ['model', 'diagnostics', 'script'],
  runtimes: ['model', 'diagnostics', 'script', 'facts', 'desired'],
  mesh: belowMesh,
  resources: [...belowMesh, 'cabling', 'models', 'mesh', 'doctor'],
  plan: ['model', 'diagnostics', 'desired', 'doctor', 'resources'],
  playbooks: ['model', 'diagnostics', 'desired', 'config', 'resources', 'plan', 'mesh'],
  doctor: ['model', 'diagnostics', 'facts', 'desired', 'cabling', 'runtimes'],
  adopt: ['model', 'diagnostics', 'desired', 'cabling', 'config'],
  report: ['model', 'diagnostics', 'resources', 'plan', 'doctor'],
  remote: ['model', 'diagnostics', 'script'],
  native: ['model', 'diagnostics', 'script'],
  sim: ['model', 'diagnostics'],
  doorman: ['model'],
  secrets: ['model', 'diagnostics'],
};

/** The folder that everything may be imported into and that nobody imports. */
const commandLine = 'cli';

layers.apply = Object.keys(layers).filter((folder) => folder !== 'sim' && folder !== 'report');
layers[commandLine] = Object.keys(layers);

/** Folders that decide and never reach out. */
const pure = [
  'model',
  'diagnostics',
  'script',
  'desired',
  'config',
  'facts',
  'cabling',
  'models',
  'runtimes',
  'mesh',
  'resources',
  'plan',
  'playbooks',
  'doctor',
  'adopt',
  'report',
];

/** Package → the folders that may import it. A package that is not listed may be imported nowhere. */
const owners = {
  ssh2: ['remote', 'sim'],
  listr2: ['apply'],
  yaml: ['config', 'playbooks', 'adopt'],
  ajv: ['config', 'playbooks', 'adopt'],
  semver: ['config', 'desired', 'resources'],
  pino: [commandLine, 'doorman'],
  commander: [commandLine],
};

module.exports = { commandLine, layers, owners, pure };
