import { showJson } from '../diagnostics-output.ts';
import { exitCode } from '../exit-codes.ts';
import { askHands, askPower, askPowerOn, requireRun } from '../sim-control.ts';
import type { VerbBody } from '../verb.ts';
import { faultsText } from './sim-fault.ts';

/** `sim hands`: somebody goes to the simulated rack and does what a work list asks for. */
export const simHands: VerbBody = async (run) => {
  const { done, faults } = await askHands(await requireRun(run));
  if (run.options.json) showJson(run.console, { formatVersion: 1, simulated: true, done, faults });
  else run.console.out(`${doneText(done)}${faultsText(faults)}`);
  return exitCode.done;
};

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
