import { preferencesPath } from '../network-preferences.ts';
import type { AskAnswer, AskRequest } from './ask-server.ts';
import type { EffectAct } from './effects.ts';
import type { FleetModel } from './fleet-model.ts';
import type { SimulatedNode } from './simulated-node.ts';
import type { TakeTurn } from './turns.ts';

/** What is needed to answer the tools of a fleet. */
export interface AskedFleet {
  readonly model: FleetModel;
  readonly nodes: readonly SimulatedNode[];
  readonly takeTurn: TakeTurn;
  readonly note: (node: SimulatedNode, act: EffectAct) => void;
  /** Keeps the state, and brings every file of every node in line with it; to be called in a turn. */
  readonly settle: () => Promise<void>;
  /** Lets Macs go down and come up as the model says; to be called outside of a turn. */
  readonly followPower: () => Promise<void>;
}

const launchctlPath = '/bin/launchctl';

const silent: AskAnswer = { stdout: '', stderr: '', exitCode: 0 };

/** Nothing of an earlier boot session may change anything; a real one would be gone. */
const stale: AskAnswer = {
  stdout: '',
  stderr: 'simulated: this process belongs to no living boot session\n',
  exitCode: 70,
};

/** A path below the root of the node, as a Mac knows it. */
const withoutRoot = (word: string, root: string): string =>
  word.startsWith(`${root}/`) ? word.slice(root.length) : word;

/** `note tcp-load`: told by ranks of a Mac that does not bear it. Its end is waited for by nobody. */
async function sendTcp(fleet: AskedFleet, node: SimulatedNode): Promise<void> {
  await fleet.takeTurn(async () => {
    fleet.model.sendTcp(node.name);
    await fleet.settle();
  });
  void fleet.followPower();
}

/** `note delete PATH...` and `note kill SIGNAL PID...`: told by tools that do their work themselves. */
function noted([kind, ...rest]: readonly string[]): EffectAct | undefined {
  if (kind === 'delete') return { kind, paths: rest };
  if (kind === 'kill') return { kind, signal: rest[0] ?? '', targets: rest.slice(1) };
  return undefined;
}

const isRunning = (node: SimulatedNode): boolean => ['up', 'going-down'].includes(node.life.power());

/** Answers one tool: applies what it asks for, writes every file that depends on it, and only then says so. */
export async function answerAsk(fleet: AskedFleet, request: AskRequest): Promise<AskAnswer> {
  const node = fleet.nodes.find((one) => one.mark() === request.mark);
  if (node === undefined || !isRunning(node)) return stale;
  const args = request.args.map((word) => withoutRoot(word, node.run.root));
  if (request.tool === 'note') {
    if (args[0] === 'unlock') void node.life.unlock();
    if (args[0] === 'tcp-load') await sendTcp(fleet, node);
    const act = noted(args);
    if (act !== undefined) fleet.note(node, act);
    return silent;
  }
  const { tool, isRoot } = request;
  if (tool === launchctlPath) {
    // Out of turn: it can wait for the end of a process, and changes nothing of the model.
    const answer = await node.launchd.launchctl({ args, isRoot });
    fleet.note(node, { kind: 'launchctl', args, exitCode: answer.exitCode });
    return answer;
  }
  return fleet.takeTurn(async () => {
    const edited = await node.edited(preferencesPath);
    if (edited !== undefined) fleet.model.reread(node.name, edited);
    const { isKnown, isChange, power, ...answer } = fleet.model.write({ node: node.name, tool, args, isRoot });
    if (!isKnown) await node.objectTo(`${tool} ${args.length}:${args.join(' ').replaceAll('\n', ' ')}`);
    else if (isChange || answer.exitCode !== 0)
      fleet.note(node, { kind: 'write', tool, args, exitCode: answer.exitCode });
    await fleet.settle();
    if (power !== undefined) void node.life.restart(power === 'restart' ? 'up' : 'off', 'shutdown');
    return answer;
  });
}
