import { setTimeout } from 'node:timers/promises';
import type { FaultName } from '../../../src/sim/faults/faults.ts';
import { endPlace } from '../fleet.ts';
import { targetOf } from '../follow-doctor.ts';
import { type OneProcess, startOneProcess } from './one-process.ts';
import { bystander, fileWithoutBystander, placeWithRack, rackNodes } from './rack.ts';
import type { Recorded } from './skeleton.ts';

/** The Macs that have power. */
type Reached = 'all' | 'all-but-one';

/** The results of the earlier steps. */
type Before = Readonly<Record<string, Recorded>>;

interface Step {
  readonly name: string;
  readonly words: readonly string[] | ((before: Before) => readonly string[]);
  /** The command for the node, after `--`. */
  readonly tail?: readonly string[];
}

const word = (name: string, ...words: readonly string[]): Step => ({ name, words: [name, ...words] });
const named = (name: string, ...words: readonly string[]): Step => ({ name, words });

/** Observing commands, in any order. */
const observing: readonly Step[] = [
  ...['status', 'doctor', 'plan', 'drift', 'facts', 'cables', 'graph', 'logs', 'secrets'].map((name) =>
    word(name, '--sim'),
  ),
  word('history', '--last', '1', '--sim'),
  named('lease-status', 'lease', 'status', '--sim'),
  word('endpoints'),
];

const password = ['--password-env', 'NODE_PASSWORD'];
const broken = 'studio-4';

/** The fingerprint that `enroll` has shown, for `replace`. */
const shownFingerprint = ({ enroll }: Before): string => {
  const { nodes = {} } = (enroll?.document ?? {}) as { nodes?: Record<string, { fingerprint?: string }> };
  return nodes[broken]?.fingerprint ?? 'SHA256:none';
};

/** Changing commands, ordered so that each has something to do on a rack without a fault. */
const acts: readonly Step[] = [
  word('ask', 'chat', 'Hello', '--sim'),
  word('bench', 'chat', '--sim', '--requests', '1', '--runs', '1', '--max-tokens', '8'),
  { ...word('exec', '--sim', '--all'), tail: ['echo', 'there'] },
  word('hold', broken, '--sim', '--yes', '--reason', 'a new cable'),
  word('release', broken, '--sim', '--yes'),
  word('drain', 'chat', '--sim', '--yes'),
  word('restart', 'chat', '--sim', '--yes'),
  word('stop', 'chat', '--sim', '--yes'),
  word('start', 'chat', '--sim', '--yes'),
  word('enroll', '--sim', '--all', '--yes', ...password),
  word('unlock', '--sim', '--all', '--yes', ...password),
  named('lease-release', 'lease', 'release', '--sim', '--all', '--yes'),
  {
    name: 'replace',
    words: (before) => ['replace', broken, '--sim', '--yes', ...password, '--expect', shownFingerprint(before)],
  },
  word('apply', '--sim', '--yes', '--allow', 'interrupt'),
  word('rollback', 'reference', '--sim', '--yes'),
  word('run', './night.yaml', '--sim', '--yes'),
  word('reboot', broken, '--sim', '--yes'),
];

/** The last commands, after which no rack is left to observe. */
const ends: readonly Step[] = [
  word('uninstall', broken, '--sim', '--yes'),
  named('history-of-all', 'history', '--last', '1', '--sim'),
  word('shutdown', '--all', '--sim', '--yes'),
];

/** This command needs a file without its node. */
const forget = word('forget', bystander, '--sim', '--yes');

const playbook = `playbook: 1
plays:
  - nodes: [${rackNodes.join(', ')}]
    tasks:
      - run: { command: ["true"], effect: none }
`;

const stepWords = ({ words, tail }: Step, before: Before): readonly string[] => [
  ...(typeof words === 'function' ? words(before) : words),
  '--json',
  ...(tail === undefined ? [] : ['--', ...tail]),
];

async function recordStep(rack: OneProcess, step: Step, before: Before): Promise<Recorded> {
  const { code, stdout } = await rack.run(stepWords(step, before));
  return stdout === '' ? { exit: code } : { exit: code, document: JSON.parse(stdout) as unknown };
}

/** The Mac that has no power in addition to the fault; the fault does not name it. */
function unreachedNode(target: string): string {
  const free = rackNodes.find((name) => !target.includes(name));
  if (free === undefined) throw new Error(`${target} names every Mac of the rack`);
  return free;
}

async function mustRun(rack: OneProcess, words: readonly string[]): Promise<void> {
  const { code, stdout } = await rack.run(words);
  if (code !== 0) throw new Error(`meshwright ${words.join(' ')} exited with ${code}: ${stdout}`);
}

const seconds = (): number => Math.floor(Date.now() / 1_000);

/** Waits until no Mac goes down or starts; otherwise, what the next command sees depends on how soon it looks. */
async function powerSettled(rack: OneProcess): Promise<void> {
  while (/"(?:going-down|starting)"/.test((await rack.run(['sim', 'status', '--json'])).stdout)) await setTimeout(100);
}

/** Runs steps one after another; a step may use the results of earlier ones. */
async function recordSteps(rack: OneProcess, steps: readonly Step[]): Promise<Before> {
  const found: Record<string, Recorded> = {};
  for (const step of steps) {
    const begun = seconds();
    found[step.name] = await recordStep(rack, step, found);
    // A run is named after the second in which it began, so `history` has no defined order for two runs in one second.
    while (!observing.includes(step) && seconds() === begun) await setTimeout(20);
    await powerSettled(rack);
  }
  return found;
}

/** Sets a fault on a fresh serving rack, runs every command, and then again with one more Mac without power. */
export async function record(fault: FaultName | 'none'): Promise<Readonly<Record<Reached, Before>>> {
  const target = fault === 'none' ? '' : targetOf(fault);
  const place = await placeWithRack();
  let rack: OneProcess | undefined;
  try {
    rack = await startOneProcess(place, { NODE_PASSWORD: 'simulated' });
    place.write('night.yaml', playbook);
    await mustRun(rack, ['apply', '--sim', '--yes', '--update-lock', '--allow', 'interrupt', '--json']);
    if (fault !== 'none') await mustRun(rack, ['sim', 'fault', fault, target, '--json']);
    const all = await recordSteps(rack, [...observing, ...acts]);
    // The commands have repaired what they could, so the fault is set again.
    if (fault !== 'none') {
      await rack.run(['sim', 'fault', '--clear', '--json']);
      await mustRun(rack, ['sim', 'fault', fault, target, '--json']);
    }
    await mustRun(rack, ['sim', 'fault', 'power-cut', unreachedNode(target), '--json']);
    const allButOne = await recordSteps(rack, [...observing, ...acts, ...ends]);
    place.write('cluster.yaml', fileWithoutBystander());
    return { all, 'all-but-one': { ...allButOne, ...(await recordSteps(rack, [forget])) } };
  } finally {
    await rack?.end();
    await endPlace(place);
  }
}
