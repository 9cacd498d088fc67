/**
 * Imports every module of the pure folders from a build in which clock, randomness, timers, process and console throw.
 * Then uses them to turn a file's text into a plan, its scripts and its screens, and prints the result. Packages are
 * loaded first, because their own loading may use these globals.
 */
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, folders, packages] = process.argv.slice(2);
const modules = folders
  .split(',')
  .flatMap((folder) => readdirSync(join(dist, folder), { recursive: true }).map((name) => join(dist, folder, name)))
  .filter((file) => file.endsWith('.js'));
const textOf = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const example = textOf('test/rack/reference.yaml');
const restart = textOf('playbooks/restart.yaml');
for (const name of packages.split(',')) await import(name);

const refuse = (name) => () => {
  throw new Error(`a pure module used ${name}`);
};
const RealDate = Date;
globalThis.Date = class extends RealDate {
  static now = refuse('Date.now');
  constructor(...words) {
    if (words.length === 0) refuse('new Date()')();
    super(...words);
  }
};
Math.random = refuse('Math.random');
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch'])
  globalThis[name] = refuse(name);
for (const name of ['process', 'console', 'performance', 'crypto']) {
  Object.defineProperty(globalThis, name, { get: refuse(name) });
}

const imported = await Promise.all(modules.map((file) => import(pathToFileURL(file).href)));
const called = (name) => imported.find((module) => name in module)[name];

const { fleet, diagnostics } = called('loadCluster')(example, 'test/rack/reference.yaml');
const broken = called('loadCluster')('nodes:\n  A: [', 'broken.yaml');
const request = { probes: called('allProbes')(), boundary: '0'.repeat(32), rootPrefix: '' };
const script = called('observeScript')(request);
const answers = called('parseFrames')(new TextEncoder().encode('rubbish'), request);
const facts = called('parseFacts')(answers, { sentAtEpochMs: 0, receivedAtEpochMs: 1 });
const nodes = Object.fromEntries(fleet.nodes.map(({ name }) => [name, { node: name, facts }]));
const findings = called('diagnoseFleet')(fleet, { nodes, failures: {} });

const known = (value) => ({ kind: 'known', value });
const file = { path: 'weights', sha256: 'b'.repeat(64), sizeBytes: 9 };
const { fleet: settled } = called('settleFleet')(
  fleet,
  called('emptyLock')('cluster.lock'),
  {
    archives: { reference: { kind: 'known', sha256: 'a'.repeat(64), sizeBytes: 9 } },
    folders: { tiny: { kind: 'known', files: [file] } },
  },
  '/fleet',
  called('keysByDriver'),
);
const seen = (node) => ({
  ...facts,
  power: known({ sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: false }),
  hardware: known({ chip: 'Apple M3 Ultra', ...node.hardware }),
  sudo: known('allowed'),
  accounts: known({ accounts: [], made: [], begun: [], checked: [] }),
  hold: known([]),
  trees: known([]),
});
const looked = Object.fromEntries(settled.nodes.map((node) => [node.name, { node: node.name, facts: seen(node) }]));
const plan = called('makePlan')({
  goal: { kind: 'converge' },
  desired: settled,
  observation: { nodes: looked, failures: {} },
  targets: settled.nodes.map(({ name }) => name),
});
const planned = JSON.stringify(called('planJson')(plan, { isSimulated: false }));
const { playbook } = called('loadPlaybook')(restart, { file: 'restart.yaml', name: 'restart' });
const scope = { desired: settled, targets: settled.nodes.map(({ name }) => name) };
const works = playbook.plays.flatMap((play) =>
  play.tasks.map((task) => called('expandTask')(task, scope, called('playNodes')(play, scope))),
);
const changing = plan.steps.find(({ act }) => act.kind === 'script');
const note = { step: changing.id, verb: 'apply', by: 'ana@desk', config: 'c' };
const fence = { run: 'r', token: 1 };
const sent = called('mutatingScript')({ rootPrefix: '', fence, note, body: called('scriptBody')(changing.act) });

const page = called('planText')(
  { plan, lock: { shown: 'cluster.lock', additions: [] }, next: [] },
  { columns: 80, unicode: true, paint: called('plainPaint'), isSimulated: false },
);
const shown = called('renderDiagnostics')([...broken.diagnostics, ...findings], {
  sources: new Map([['broken.yaml', 'nodes:\n  A: [']]),
  columns: 80,
  color: false,
  isSimulated: false,
});

const counts = { modules: imported.length, nodes: fleet.nodes.length, problems: diagnostics.length };
const steps = ['power/set', 'runtime/reference/switch', 'model/tiny/publish'].filter((name) => planned.includes(name));
const goals = works.map(({ goal }) => goal.kind);
const texts = { isScriptText: script.length > 0 && sent.length > 0, hasShown: shown.includes('broken.yaml:') };
writeSync(1, JSON.stringify({ ...counts, ...texts, steps, goals, isPlanShown: page.includes('power/sleep') }));
