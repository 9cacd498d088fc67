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
  adopt: ['model', 'diagnostics', 'desired', 'config', 'rack'],
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
const pure = ['model', 'diagnostics', 'desired', 'config', 'node', 'drivers', 'rack', 'engine', 'adopt', 'report'];

/** Package → the rooms that may import it. A package that is not listed may not be imported. */
const owners = {
  ssh2: ['remote', 'sim'],
  listr2: ['apply'],
  yaml: ['config', 'engine/playbooks', 'adopt'],
  ajv: ['config', 'engine/playbooks', 'adopt'],
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

/**
 * The rack files whose name does not show their role, by role and subject. A name shows the role if it is or ends with
 * `fact`, `rule` or `resource`, such as `hold-fact.ts`.
 */
const roles = {
  geometry: { cabling: 'cabling-text judge-cabling moves receptacle-view' },
  reading: {
    accounts: 'account-state',
    addresses: 'link-address-seen',
    bridge: 'bridges',
    cables: 'before-cables receptacle-place',
    cabling: 'receptacle-sight',
    clock: 'clocks',
    contract: 'define-rule examination goal resource-kind seen-fact',
    'foreign-daemon': 'adopted-daemon',
    hold: 'node-holds',
    identity: 'identity',
    macos: 'macos',
    network: 'services thunderbolt-interfaces',
    placement: 'state/mesh-states',
    rdma: 'launch-budget rdma-receptacle rdma-switch-steps',
    records: 'trees',
  },
  fact: { contract: 'fact' },
  mesh: {
    placement: [
      'endpoint/gateway-steps rank-states start/failing-rank-finding start/start-mesh',
      'state/read-mesh stop-mesh',
    ].join(' '),
  },
  shape: { artifacts: 'shapes/gguf shapes/safetensors shapes/safetensors-shape' },
  // A setting in one file combines all roles. Only lists and the code that restores values import it.
  setting: { settings: '[a-z-]+', uninstall: 'baseline' },
  resource: {
    artifacts: [
      'models/(list-folders|model-copies)',
      'peers/cable-rate peers/cables-in-use peers/fan-out',
      'runtimes/build-archive runtimes/list-packages runtimes/supply-runtime',
      'sources/(adopted-copy|fetch|fetch-steps|[a-z]+-source) trees/tree-steps',
    ].join(' '),
    contract: 'build-step define-setting resource',
    placement: [
      'check/gid-index check/placement-checks check/placement-findings',
      'check/placement-survey check/rdma-suspicions endpoint/drain endpoint/gateways',
      'endpoint/seen-gateways placement-blockers start/start-gates state/layouts',
      'state/placement-cases state/placement-properties state/seen-names state/staying state/survivors',
    ].join(' '),
    uninstall: 'network-before uninstall-properties',
  },
  script: {
    access: 'install-access',
    accounts: 'account-scripts',
    addresses: 'link-address-scripts',
    artifacts: '(peers|runtimes|sources|trees)/[a-z]+-scripts',
    boot: 'restart-mac',
    bridge: 'remove-bridge',
    cables: 'measure-tcp',
    clock: 'set-clock',
    'foreign-daemon': 'daemon-scripts',
    hold: 'script',
    keeper: 'hash-models keeper-scripts program',
    memory: 'set-wired-limit',
    network: 'order-services transaction/rollback-script',
    placement: 'endpoint/gateway-scripts observed/rank-log ranks/rank-scripts launched-program',
    uninstall: 'uninstall-scripts',
  },
};

const inFolder = (name) => `src/${name}/`;

/** Patterns for the files with one role. */
function roleFiles(role) {
  const listed = Object.entries(roles[role] ?? {}).flatMap(([subject, names]) =>
    names.split(' ').map((name) => `src/rack/${subject === contract ? '' : `${subject}/`}${name}\\.ts$`),
  );
  if (role === 'script') return [...listed, 'src/rack/.*/scripts\\.generated\\.ts$', 'src/rack/.*\\.sh$'];
  return ['fact', 'rule', 'resource'].includes(role)
    ? [...listed, `src/rack/[^/]+/(?:${role}|.*[-/]${role})\\.ts$`]
    : listed;
}

/** Files in `node` that parse answers; all others generate scripts. */
const answerFiles = ['answers/', 'probes/kept\\.ts$'];

/**
 * Parts of rooms with an internal import order: each has patterns for its files, and the parts or whole rooms that it
 * may import besides itself. In `node`, `rack` and `engine`, every file belongs to one part.
 */
const parts = {
  'node/sent': { files: [`src/node/(?!${answerFiles.join('|')})`], mayImport: ['model'] },
  'node/answers': { files: answerFiles.map((one) => `src/node/${one}`), mayImport: ['model', 'node/sent'] },
  'rack/script': { files: roleFiles('script'), mayImport: ['model', 'node/sent'] },
  'rack/fact': { files: roleFiles('fact'), mayImport: ['model', 'node', 'rack/script'] },
  'rack/geometry': { files: roleFiles('geometry'), mayImport: ['model', 'diagnostics', 'rack/fact'] },
  'rack/shape': { files: roleFiles('shape'), mayImport: ['model', 'diagnostics'] },
  'rack/reading': {
    files: roleFiles('reading'),
    mayImport: ['model', 'diagnostics', 'desired', 'drivers', 'rack/fact', 'rack/geometry'],
  },
  'rack/rule': {
    files: roleFiles('rule'),
    mayImport: ['model', 'diagnostics', 'desired', 'drivers', 'rack/fact', 'rack/geometry', 'rack/reading'],
  },
  'rack/mesh': {
    files: roleFiles('mesh'),
    mayImport: ['model', 'diagnostics', 'desired', 'node', 'drivers', 'rack/script', 'rack/fact', 'rack/reading'],
  },
  'rack/resource': {
    files: roleFiles('resource'),
    mayImport: ['model', 'diagnostics', 'desired', 'node', 'drivers', 'rack'],
  },
  'rack/setting': { files: roleFiles('setting'), mayImport: ['model', 'diagnostics', 'desired', 'node', 'rack'] },
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
  adopt: { files: [inFolder('adopt')], mayImport: ['model', 'diagnostics', 'desired', 'config', 'rack/geometry'] },
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
