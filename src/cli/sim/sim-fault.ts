import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type FaultName, faultNames, faults } from '../../sim/faults/faults.ts';
import type { RunFile } from '../../sim/hosts/control/run-file.ts';
import { showJson } from '../terminal/diagnostics-output.ts';
import { type ExitCode, exitCode } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { askFaults, requireRun } from './sim-control.ts';

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
