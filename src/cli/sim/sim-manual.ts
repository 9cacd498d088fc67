import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { handsForms, isHandsForm, isHandsVerb } from '../../sim/manual/words.ts';
import { showJson } from '../terminal/diagnostics-output.ts';
import { exitCode } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import type { VerbBody } from '../verb/verb.ts';
import { askHands, askPower, askPowerOn, requireRun } from './sim-control.ts';
import { faultsText } from './sim-fault.ts';

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
