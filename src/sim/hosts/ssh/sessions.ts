import type { Connection, ServerChannel, Session } from 'ssh2';
import type { ProcessStarter } from '../process-starter.ts';
import type { ProcessGroups } from '../processes.ts';
import type { NodeRecords } from '../records.ts';
import { createInputWatch, type Objection, objectionsTo } from '../strict-shell.ts';
import { type RunningExec, runExec } from './exec.ts';
import { createExecHold, type ExecWatch } from './exec-watch.ts';
import type { PipeSupply } from './pipes.ts';
import { execEnvironment, homeOf } from './ssh-user.ts';

/** The node behind its ssh server. */
export interface SessionNode {
  readonly name: string;
  readonly user: string;
  /** Absolute folder that stands for `/`. */
  readonly root: string;
  /** `<run id>.<node>.<boot>` of the present boot session. */
  readonly mark: () => string;
  readonly pipes: PipeSupply;
  readonly groups: ProcessGroups;
  readonly starter: ProcessStarter;
  readonly records: NodeRecords;
  readonly watch: ExecWatch;
  /** Number of the present boot session. */
  readonly boot: () => number;
  /** Writes down what a Mac would not have understood, in the node's own `/.sim/unknown`. */
  readonly objectTo: (objections: readonly Objection[]) => void;
  readonly now: () => number;
}

/** What is known of the client on the other side. */
export interface SessionClient {
  /** What it calls itself, such as `OpenSSH_9.2p1`. */
  readonly software: string;
  /** Number of the connection on this node, from 1. */
  readonly connection: number;
  /** `address port` */
  readonly from: string;
  readonly to: string;
}

/** sshd's MaxSessions; a session counts until its command has ended, also when its channel is long closed. */
const maxSessions = 10;
/** The stock sshd_config of macOS has `AcceptEnv LANG LC_*`. */
const acceptedVariable = /^(LANG|LC_[A-Z0-9_]*)$/;

interface OneSession {
  readonly node: SessionNode;
  readonly client: SessionClient;
  readonly variables: Record<string, string>;
  running: RunningExec | undefined;
  isClosed: boolean;
  readonly settle: () => void;
}

/** Answers the session channels of an authenticated client as sshd does: exec only, no terminal, no forwarding. */
export function serveSessions(connection: Connection, node: SessionNode, client: SessionClient): void {
  const open = new Set<OneSession>();
  connection.on('session', (accept, reject) => {
    if (open.size >= maxSessions) {
      reject();
      return;
    }
    node.records.count('channels');
    const session = accept();
    const one: OneSession = {
      node,
      client,
      variables: {},
      running: undefined,
      isClosed: false,
      settle: () => {
        if (one.isClosed && one.running === undefined) open.delete(one);
      },
    };
    open.add(one);
    answer(session, one);
  });
  // Without a listener ssh2 refuses no-more-sessions@openssh.com, which every OpenSSH client sends.
  connection.on('request', (_accept: unknown, reject: (() => void) | undefined) => reject?.());
  connection.once('close', () => {
    for (const one of open) close(one);
  });
}

function close(one: OneSession): void {
  one.isClosed = true;
  one.running?.abandon();
  one.settle();
}

function answer(session: Session, one: OneSession): void {
  session.on('error', () => undefined);
  session.on('env', (accept, reject, { key, val }) => {
    if (!acceptedVariable.test(key)) {
      refuse(reject);
      return;
    }
    one.variables[key] = val;
    // Both are missing when the client wants no reply.
    if (typeof accept === 'function') accept();
  });
  for (const unsupported of ['pty', 'x11', 'auth-agent', 'shell', 'subsystem', 'sftp', 'window-change']) {
    session.on(unsupported, (_accept: unknown, reject: unknown) => refuse(reject));
  }
  session.on('signal', (_accept, reject, { name }) => {
    one.running?.signal(name.replace(/^SIG/, ''));
    refuse(reject);
  });
  session.once('close', () => close(one));
  session.once('exec', (accept, _reject, { command }) => {
    const channel = accept();
    startExec(channel, command, one).catch((error: unknown) => {
      channel.stderr.write(`simulated node: ${error instanceof Error ? error.message : String(error)}\n`);
      channel.exit(255);
      channel.end();
    });
  });
}

function refuse(reject: unknown): void {
  if (typeof reject === 'function') reject();
}

async function startExec(channel: ServerChannel, command: string, one: OneSession): Promise<void> {
  const { node, client } = one;
  node.records.count('execs');
  const objections = objectionsTo(command, node.root);
  const change = node.records.open({
    node: node.name,
    command,
    atEpochMs: node.now(),
    client: client.software,
    connection: client.connection,
    outputBytes: 0,
    objections: objections.map((objection) => objection.text),
  });
  const [first] = objections;
  if (first !== undefined) {
    node.objectTo(objections);
    channel.stderr.write(`${first.text}\n`);
    channel.exit(first.code);
    channel.end();
    change({ exit: { kind: 'exited', code: first.code } });
    return;
  }
  const watch = createInputWatch(command, node.root);
  const pipes = await node.pipes.take();
  const running = runExec({
    command,
    channel,
    pipes,
    groups: node.groups,
    starter: node.starter,
    node: node.name,
    environment: execEnvironment({
      root: node.root,
      user: node.user,
      mark: node.mark(),
      accepted: one.variables,
      connection: { client: client.from, server: client.to },
    }),
    folder: homeOf(node.root, node.user),
    onInput: watch?.add ?? (() => undefined),
    hold: createExecHold(node.watch, { node: node.name, command, boot: node.boot() }),
  });
  one.running = running;
  if (one.isClosed) running.abandon();
  const { exit, outputBytes } = await running.ended;
  const late = watch?.objections() ?? [];
  node.objectTo(late);
  change({ exit, outputBytes, objections: late.map((objection) => objection.text) });
  one.running = undefined;
  one.settle();
}
