import type { Socket } from 'node:net';
import { preferencesPath } from '../model/network-preferences.ts';
import { strangerPid } from '../model/rdma.ts';
import { openSocket } from './control/control.ts';
import type { SimulatedNode } from './fleet-host.ts';
import type { NodeEvent } from './fleet-model.ts';
import { type LiveFleet, networkDaemonLabel } from './follow-model.ts';
import type { EffectAct } from './records.ts';

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

/** Lets something happen to the model; what follows for the Mac as a whole is given back, to be waited for or not. */
async function happen(fleet: LiveFleet, node: string, event: NodeEvent): Promise<{ readonly followed: Promise<void> }> {
  await fleet.takeTurn(async () => {
    fleet.model.happen(node, event);
    await fleet.settle();
  });
  // A fleet that ends in between has nobody to tell.
  return { followed: fleet.follow().catch(() => undefined) };
}

/** `note tcp-load`: told by ranks. `note kill SIGNAL PID...`: told by `kill`. `note daemon-run`: told by the network daemon of somebody else. */
async function heard(fleet: LiveFleet, { name }: SimulatedNode, args: readonly string[]): Promise<void> {
  const [word, signal = '', ...pids] = args;
  if (word === 'tcp-load') {
    const { followed } = await happen(fleet, name, { kind: 'tcp-load' });
    // Who makes its own kernel panic hears no answer, and gives none.
    await followed;
  }
  const isEnding = word === 'kill' && !/^(?:STOP|CONT|USR[12])$/.test(signal);
  if (isEnding && pids.includes(String(strangerPid))) {
    await happen(fleet, name, { kind: 'processes-ended', pids: pids.map(Number) });
  }
  if (word === 'daemon-run') await happen(fleet, name, { kind: 'daemon-run' });
}

/** What launchd did that the model knows about: a service was killed, or that daemon disabled or enabled. */
async function heardOfLaunchd(fleet: LiveFleet, { name }: SimulatedNode, words: readonly string[]): Promise<void> {
  const [verb, target] = words;
  if (verb === 'kill' && target === 'SIGKILL') await happen(fleet, name, { kind: 'killed' });
  if (target !== `system/${networkDaemonLabel}` || (verb !== 'disable' && verb !== 'enable')) return;
  await happen(fleet, name, { kind: 'daemon', isStopped: verb === 'disable' });
}

/** `note delete PATH...` and `note kill SIGNAL PID...`: told by tools that do their work themselves. */
function noted([kind, ...rest]: readonly string[]): EffectAct | undefined {
  if (kind === 'delete') return { kind, paths: rest };
  if (kind === 'kill') return { kind, signal: rest[0] ?? '', targets: rest.slice(1) };
  return undefined;
}

/** Answers one tool: applies what it asks for, writes every file that depends on it, and only then says so. */
export async function answerAsk(fleet: LiveFleet, request: AskRequest): Promise<AskAnswer> {
  const node = fleet.nodes.find((one) => one.mark() === request.mark);
  if (node === undefined || !node.life.isRunning()) return stale;
  const args = request.args.map((word) => withoutRoot(word, node.run.root));
  if (request.tool === 'note') {
    if (args[0] === 'unlock') void node.life.unlock();
    await heard(fleet, node, args);
    const act = noted(args);
    if (act !== undefined) fleet.note(node, act);
    return silent;
  }
  const { tool, isRoot } = request;
  if (tool === launchctlPath) {
    // Out of turn: it can wait for the end of a process, and changes nothing of the model.
    const answer = await node.launchd.launchctl({ args, isRoot });
    fleet.note(node, { kind: 'launchctl', args, exitCode: answer.exitCode });
    if (answer.exitCode === 0) await heardOfLaunchd(fleet, node, args);
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

/** What a tool of a node hands over. */
export interface AskRequest {
  /** `<run id>.<node>.<boot>` of the process, empty when it has lost its environment. */
  readonly mark: string;
  readonly isRoot: boolean;
  /** The folder that the process is in. */
  readonly folder: string;
  /** `/usr/bin/pmset`, or `note` for something that is only to be written down. */
  readonly tool: string;
  readonly args: readonly string[];
}

/** What the tool then says. */
export interface AskAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

const maxRequestBytes = 1_048_576;

/** The request when it is whole; undefined while more must come; an error for what is none. */
function parseRequest(received: Buffer): AskRequest | undefined | Error {
  const head = received.subarray(0, 12).indexOf('\n');
  if (head < 0) return received.length >= 12 ? new Error('no length') : undefined;
  const digits = received.subarray(0, head).toString('latin1');
  const length = Number(digits);
  if (!/^\d+$/.test(digits) || length > maxRequestBytes) return new Error('no length, or too long');
  if (received.length < head + 1 + length) return undefined;
  const words = received
    .subarray(head + 1, head + 1 + length)
    .toString('utf8')
    .split('\0');
  const [mark = '', sudo = '', folder = '', tool = '', ...args] = words;
  return { mark, isRoot: sudo !== '', folder, tool, args };
}

function reply(client: Socket, { stdout, stderr, exitCode }: AskAnswer): void {
  const [out, err] = [Buffer.from(stdout), Buffer.from(stderr)];
  client.end(Buffer.concat([Buffer.from(`${exitCode} ${out.length} ${err.length}\n`), out, err]));
}

function listenTo(client: Socket, answer: (request: AskRequest) => Promise<AskAnswer>): void {
  let received = Buffer.alloc(0);
  let isAsked = false;
  client.on('data', (chunk: Buffer) => {
    if (isAsked) return;
    received = Buffer.concat([received, chunk]);
    const request = parseRequest(received);
    if (request === undefined) return;
    isAsked = true;
    if (request instanceof Error) {
      client.destroy();
      return;
    }
    answer(request).then(
      (given) => reply(client, given),
      (error: unknown) => reply(client, { stdout: '', stderr: `simulated: ${String(error)}\n`, exitCode: 70 }),
    );
  });
}

/**
 * Listens for the tools of all nodes. A request is answered after everything that follows from it has been written,
 * so that the next command of the same script sees it.
 *
 * @throws the system's error when the socket cannot be made
 */
export const serveAsks = (path: string, answer: (request: AskRequest) => Promise<AskAnswer>) =>
  openSocket(path, { allowHalfOpen: true }, (client) => listenTo(client, answer));
