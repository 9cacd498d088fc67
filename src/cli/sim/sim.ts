import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { proseText } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { SimDocument, SimFleet, SimPower } from '../../model/documents.generated.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { counted } from '../../report/page.ts';
import { type FaultName, faultNames, faults } from '../../sim/faults/faults.ts';
import { handsForms, isHandsForm, isHandsVerb } from '../../sim/hands.ts';
import { requirePrograms } from '../../sim/hosts/base-tools/all-base-tools.ts';
import type { ControlRequest } from '../../sim/hosts/control/control.ts';
import { forgetState, type RunFile, readRun } from '../../sim/hosts/control/run-folder.ts';
import { startSupervisor, stopSupervisor } from '../../sim/hosts/control/supervisor.ts';
import { type OpenedCluster, requireClusterFile, simLockPlace } from '../cluster/open-cluster.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { askSimulator, requireRun } from '../cluster/simulator.ts';
import { requireReadable } from '../cluster/ssh-targets.ts';
import { exitCode } from '../exit-codes.ts';
import { fleetFileName, forgetRehearsal, simFolder } from '../files/places.ts';
import { readIfThere } from '../files/read-file.ts';
import { replaceFile, writingTo } from '../files/write-file.ts';
import { type Ended, withLine } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';

export const simHands: VerbBody = async (run) => {
  checkWords(run.words);
  const { done, faults } = await askHands(await requireRun(run), run.words);
  // After moves of single plugs, the rack can differ from the file without any fault.
  const isAsFile = run.words.length === 0;
  const text = `${doneText(done)}${isAsFile || faults.length > 0 ? faultsText(faults) : ''}`;
  return finish({ formatVersion: 1, simulated: true, done, faults }, text);
};

const finish = <Document extends SimDocument>(document: Document, text: string): Ended<Document> => {
  return { exit: exitCode.done, document, text };
};

/** Arguments in an unknown format are a usage error. The simulator checks the names in them. */
function checkWords(words: readonly string[]): void {
  const [verb] = words;
  if (verb === undefined || isHandsForm(words)) return;
  const isKnown = isHandsVerb(verb);
  throw usageError(
    isKnown ? `Invalid arguments for ${verb}.` : `Unknown manual step ${JSON.stringify(verb)}.`,
    isKnown
      ? prose`Use: ${meshwright('sim hands', handsForms[verb])}`
      : `Known steps: ${Object.keys(handsForms).join(', ')}`,
  );
}

const doneText = (done: readonly string[]): string =>
  done.length === 0
    ? 'No manual steps to do at the simulated rack.\n'
    : `Done at the simulated rack:\n${done.map((one) => `  ${one}\n`).join('')}`;

export const simPowerOn: VerbBody = async (run) => {
  const { words } = run;
  const runFile = await requireRun(run);
  const { power: before } = await ask(runFile, { ask: 'status' });
  const { power } = await ask(runFile, { ask: 'power-on', words }, buttonDeadlineMs);
  const stateOf = (name: string): string =>
    before[name] === 'up' ? 'was already up' : `is ${power[name] ?? 'down'} again`;
  const text = words.map((name) => `Simulated ${name} ${stateOf(name)}.\n`).join('');
  return finish({ formatVersion: 1, simulated: true, power }, text);
};

const seeList = prose`List of faults: ${meshwright('sim fault', '--list')}`;

export const simFault: VerbBody = async (run) => {
  const isListing = run.own['list'] === true;
  const isClearing = run.own['clear'] === true;
  if (isListing && (isClearing || run.words.length > 0))
    throw usageError('--list takes no other arguments.', 'Remove the other arguments.');
  if (isListing) return listFaults();
  if (!isClearing) checkFault(run.words);
  const runFile = await requireRun(run);
  const before = isClearing ? await askFaults(runFile, { ask: 'fault-list' }) : [];
  const active = isClearing
    ? await askFaults(runFile, { ask: 'fault-clear', words: run.words })
    : await setFaults(runFile, run.words);
  const back = before.filter((one) => one.startsWith('mac-replaced ') && !active.includes(one)).map(oldMacText);
  return finish({ formatVersion: 1, simulated: true, faults: active }, [faultsText(active), ...back].join(''));
};

/** After `replace`, every command stops at the host key of the Mac that is back. */
function oldMacText(fault: string): string {
  const [, node = ''] = fault.split(' ');
  const text = prose`The old Mac of ${node} is back. If you have replaced it:\n  ${meshwright('replace', node)}`;
  return `${proseText(text, simulated)}\n`;
}

/** Injects the same fault at each target in turn. A target that cannot have the fault stops the loop. */
async function setFaults(runFile: RunFile, [name = '', ...targets]: readonly string[]): Promise<readonly string[]> {
  let active: readonly string[] = [];
  for (const target of targets.length === 0 ? [[]] : targets.map((one) => [one])) {
    active = await askFaults(runFile, { ask: 'fault-set', words: [name, ...target] });
  }
  return active;
}

/** A fault without its target is a usage error; the simulator checks everything else. */
function checkFault(words: readonly string[]): void {
  const [name, target] = words;
  if (name === undefined) throw usageError('Fault missing.', seeList);
  if (target === undefined && isFaultName(name)) {
    throw usageError(`${name} needs a target: ${faults[name].targets}`, seeList);
  }
}

const isFaultName = (name: string): name is FaultName => faultNames.some((one) => one === name);

const faultsText = (active: readonly string[]): string =>
  active.length === 0
    ? 'No faults: the simulated rack matches the file.\n'
    : `Active simulated faults:\n${active.map((one) => `  ${one}\n`).join('')}`;

function listFaults(): Ended {
  const all = faultNames.map((name) => ({ name, summary: faults[name].summary, targets: faults[name].targets }));
  const lines = all.map(({ name, summary, targets }) => `  ${name} ${targets}\n      ${summary}\n`);
  const text = `Faults in the simulated rack\n\n${lines.join('')}`;
  return finish({ formatVersion: 1, simulated: true, known: all }, text);
}

/** `sim up`: starts one simulated Mac per node in the file unless they are already up. */
export async function simUp(run: Run) {
  const folder = simFolder(run.env, requireClusterFile(run));
  requirePrograms();
  writingTo(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  // An invalid file must not change the running Macs.
  let cluster = rehearsedCluster(run);
  const isFactory = run.own['factory'] === true;
  if (isFactory || run.own['fresh'] === true) {
    await stopSupervisor(folder);
    await forgetState(folder);
    forgetRehearsal(run.env, cluster.opened.path);
    await rm(simLockPlace(folder).path, { force: true });
    cluster = rehearsedCluster(run, cluster.opened);
  }
  const before = await readRun(folder);
  const recipe = JSON.stringify({ clusterFile: cluster.opened.path, fleet: cluster.fleet });
  const isChanged = before.kind === 'live' && readIfThere(join(folder, fleetFileName), 'fleet')?.text !== recipe;
  if (before.kind !== 'live') replaceFile(join(folder, fleetFileName), recipe, 0o600);
  const entry = [...selfWords(), 'sim', 'serve', folder, ...(isFactory ? ['--factory'] : [])] as const;
  const count = counted(cluster.fleet.nodes.length, 'simulated Mac');
  const started = await withLine(
    run.console,
    (seconds) => `starting ${count}: ${seconds} s`,
    () => startSupervisor({ entry, folder }),
  );
  const isNew = started.kind === 'started';
  // After an interrupted start, nothing must remain running.
  if (isNew && run.signal.aborted) {
    await stopSupervisor(folder);
    run.signal.throwIfAborted();
  }
  const head = headLine(started.run, isNew ? 'up' : 'already up', run.console.columns);
  const next = proseText(isFactory ? enrollText : nextText(isChanged), simulated);
  return finish(simJson(isNew ? 'started' : 'already', started.run), `${head}${nodeLines(started.run)}${next}\n`);
}

/** The cluster file, with the networks that its links have in a simulation. */
function rehearsedCluster(run: Run, already?: OpenedCluster) {
  const { opened, fleet: settled } = settleFromLock({ ...run, options: { ...run.options, sim: true } }, already);
  const { networks } = settled.thunderbolt;
  const fleet: DesiredFleet = { ...opened.fleet, thunderbolt: { ...opened.fleet.thunderbolt, networks } };
  return { opened, fleet };
}

const simulated = { isSimulated: true };

/** This is the password of the account in `newMac`, also for sudo and FileVault. */
const enrollText = prose`Enroll them (their password is "simulated"): ${meshwright('enroll', '--all')}`;

function nextText(isChanged: boolean): Prose {
  if (!isChanged) return prose`Check them: ${meshwright('status')}`;
  return prose`The file has changed since these Macs were created, so plan shows the difference.\nTo create them from scratch: ${meshwright('sim up', '--fresh')}`;
}

/** `sim down`: stops the simulated fleet. Succeeds even if none is running. */
export const simDown: VerbBody = async (run) => {
  const folder = simFolder(run.env, requireClusterFile(run));
  const stopped = await stopSupervisor(folder);
  if (stopped.kind === 'none') requireReadable(folder);
  return finish({ formatVersion: 1, simulated: true, state: stopped.kind }, `${downText[stopped.kind]}\n`);
};

const downText = {
  none: 'No simulated fleet was running.',
  stopped: 'The simulated fleet is down; all its processes have stopped.',
  cleaned: 'The simulated fleet had crashed; its remains were removed.',
} as const;

export const simStatus: VerbBody = async (run) => {
  const runFile = await requireRun(run);
  const { faults, power } = await ask(runFile, { ask: 'status' }, buttonDeadlineMs);
  const active = textsOf(faults);
  const since = new Date(runFile.startedAtEpochMs).toISOString().slice(0, 16).replace('T', ' ');
  const head = headLine(runFile, `up since ${since} UTC`, run.console.columns);
  const [first] = Object.values(runFile.nodes);
  const disks = first === undefined ? '' : `Each disk is a folder in ${dirname(first.root)}\n`;
  const text = `${head}${nodeLines(runFile, power)}${disks}${faultsText(active)}`;
  return finish({ ...simJson('up', runFile, power), faults: active }, text);
};

function headLine({ cluster, nodes }: RunFile, state: string, columns: number): string {
  const left = `${cluster}   ${counted(Object.keys(nodes).length, 'node')}, ${state}`;
  const mark = 'simulated';
  return `${left}${' '.repeat(Math.max(3, columns - left.length - mark.length))}${mark}\n`;
}

/** The SSH command for each node, with its power state if the node is not up. */
function nodeLines({ nodes }: RunFile, power: Answer['power'] = {}): string {
  const width = Math.max(0, ...Object.keys(nodes).map((name) => name.length));
  return Object.entries(nodes)
    .map(([name, { user, port }]) => {
      const state = power[name] ?? 'up';
      return `  ${name.padEnd(width)}   ${user}@127.0.0.1 port ${port}${state === 'up' ? '' : `   ${state}`}\n`;
    })
    .join('');
}

const simJson = (state: SimFleet['state'], runFile: RunFile, power?: Answer['power']) => ({
  formatVersion: 1 as const,
  simulated: true as const,
  state,
  cluster: runFile.cluster,
  pid: runFile.pid,
  nodes: Object.fromEntries(
    Object.entries(runFile.nodes).map(([name, { port, user, root }]) => [
      name,
      { host: '127.0.0.1' as const, port, user, root, ...(power && { power: power[name] ?? 'up' }) },
    ]),
  ),
});

/** Pressing a power button waits until the Mac has started. */
const buttonDeadlineMs = 300_000;

/** The active faults as texts: `cable-missing studio-1:2`. */
export async function askFaults(runFile: RunFile, request: ControlRequest): Promise<readonly string[]> {
  return textsOf((await ask(runFile, request, buttonDeadlineMs)).faults);
}

const textsOf = (faults: Answer['faults']): readonly string[] => faults.map(({ text }) => text);

/** The simulator's answers; each request has some of these fields. */
interface Answer {
  readonly done: readonly string[];
  readonly faults: readonly { readonly text: string }[];
  readonly power: SimPower['power'];
}

/**
 * The completed manual steps, as sentences without a period, and the remaining faults. With arguments, only the named
 * steps are done, otherwise all of them. @throws FleetError `sim/impossible-act`
 */
async function askHands(runFile: RunFile, words: readonly string[]) {
  const request: ControlRequest = words.length === 0 ? { ask: 'hands' } : { ask: 'act', words };
  const { done, faults } = await ask(runFile, request, buttonDeadlineMs);
  return { done, faults: textsOf(faults) };
}

const ask = (...request: Parameters<typeof askSimulator>): Promise<Answer> => askSimulator<Answer>(...request);

/** The command that starts this program again: `main.js` in the bundle, or `main.ts` with its loader. */
export function selfWords(): readonly [string, ...string[]] {
  const extension = extname(import.meta.url);
  const entry = fileURLToPath(new URL(`../main${extension}`, import.meta.url));
  return [process.execPath, ...(extension === '.ts' ? process.execArgv : []), entry];
}
