import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type FaultName, faultNames, faults } from '../../sim/faults/faults.ts';
import { handsForms, isHandsForm, isHandsVerb } from '../../sim/hands.ts';
import type { RunFile } from '../../sim/hosts/control/run-folder.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { showJson } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { askFaults, askHands, askPower, askPowerOn, requireRun } from './sim-control.ts';

/** `sim hands`: somebody goes to the simulated rack and does what a work list asks for, or moves the plugs as told. */
export const simHands: VerbBody = async (run) => {
  checkWords(run.words);
  const { done, faults } = await askHands(await requireRun(run), run.words);
  // Who moves single plugs may well leave the rack otherwise than the file says, without any fault.
  const isAsFile = run.words.length === 0;
  if (run.options.json) showJson(run.console, { formatVersion: 1, simulated: true, done, faults });
  else run.console.out(`${doneText(done)}${isAsFile || faults.length > 0 ? faultsText(faults) : ''}`);
  return exitCode.done;
};

/** Words that no hands understand are a slip of the command line; the simulator judges what they name. */
function checkWords(words: readonly string[]): void {
  const [verb] = words;
  if (verb === undefined || isHandsForm(words)) return;
  const isKnown = isHandsVerb(verb);
  throw usageError(
    isKnown ? `${verb} needs other words.` : `The simulated hands cannot ${JSON.stringify(verb)}.`,
    isKnown ? prose`Say: ${meshwright('sim hands', handsForms[verb])}` : `They can ${listOf(Object.keys(handsForms))}.`,
  );
}

const listOf = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;

const doneText = (done: readonly string[]): string =>
  done.length === 0
    ? 'The simulated hands found nothing to do.\n'
    : `The simulated hands did this:\n${done.map((one) => `  ${one}\n`).join('')}`;

/** `sim power-on NODE...`: somebody presses the buttons of simulated Macs. */
export const simPowerOn: VerbBody = async (run) => {
  const { words } = run;
  const runFile = await requireRun(run);
  const before = await askPower(runFile);
  const power = await askPowerOn(runFile, words);
  const nodes = words.map((name) => ({ name, wasOff: before[name] !== 'up', power: power[name] ?? 'down' }));
  if (run.options.json) {
    showJson(run.console, { formatVersion: 1, simulated: true, power });
    return exitCode.done;
  }
  const line = (node: (typeof nodes)[number]): string =>
    node.wasOff ? `Simulated ${node.name} is ${node.power} again.\n` : `Simulated ${node.name} was up.\n`;
  run.console.out(nodes.map(line).join(''));
  return exitCode.done;
};

const seeList = prose`See: ${meshwright('sim fault', '--list')}`;

/** `sim fault`: breaks something by name, mends it, or lists what can be broken. */
export const simFault: VerbBody = async (run) => {
  const isListing = run.own['list'] === true;
  const isClearing = run.own['clear'] === true;
  if (isListing && (isClearing || run.words.length > 0))
    throw usageError('--list stands alone.', 'Leave the rest out.');
  if (isListing) return listFaults(run);
  if (!isClearing) checkFault(run.words);
  const runFile = await requireRun(run);
  const active = isClearing
    ? await askFaults(runFile, { ask: 'fault-clear', words: run.words })
    : await setFaults(runFile, run.words);
  if (run.options.json) showJson(run.console, { formatVersion: 1, simulated: true, faults: active });
  else run.console.out(faultsText(active));
  return exitCode.done;
};

/** The same fault at one target after the other; the first target that cannot be broken ends it, and says so. */
async function setFaults(runFile: RunFile, [name = '', ...targets]: readonly string[]): Promise<readonly string[]> {
  let active: readonly string[] = [];
  for (const target of targets.length === 0 ? [[]] : targets.map((one) => [one])) {
    active = await askFaults(runFile, { ask: 'fault-set', words: [name, ...target] });
  }
  return active;
}

/** A fault without its target is a slip of the command line; the simulator judges everything else. */
function checkFault(words: readonly string[]): void {
  const [name, target] = words;
  if (name === undefined) throw usageError('No fault is named.', seeList);
  if (target === undefined && isFaultName(name)) {
    throw usageError(`${name} needs a target: ${faults[name].targets}`, seeList);
  }
}

const isFaultName = (name: string): name is FaultName => faultNames.some((one) => one === name);

/** The faults in force, one per line. */
export const faultsText = (active: readonly string[]): string =>
  active.length === 0
    ? 'No faults: the simulated rack is as the file says.\n'
    : `Simulated faults in force:\n${active.map((one) => `  ${one}\n`).join('')}`;

function listFaults(run: Run): ExitCode {
  const all = faultNames.map((name) => ({ name, summary: faults[name].summary, targets: faults[name].targets }));
  if (run.options.json) showJson(run.console, { formatVersion: 1, simulated: true, known: all });
  else run.console.out(`Faults of the simulated rack\n\n${all.map(faultText).join('')}`);
  return exitCode.done;
}

const faultText = ({ name, summary, targets }: { name: string; summary: string; targets: string }): string =>
  `  ${name} ${targets}\n      ${summary}\n`;
