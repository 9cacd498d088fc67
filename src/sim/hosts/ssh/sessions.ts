import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Connection, ServerChannel, Session } from 'ssh2';
import type { Exit } from '../../../model/probe.ts';
import type { ServedNode } from '../fleet-host.ts';
import type { ProcessStarter, StartedProgram } from '../process-starter.ts';
import type { ProcessGroups } from '../processes.ts';
import { inputCheck, type Objection, objectionsTo } from '../strict-shell.ts';
import type { NodeKeys } from './host-keys.ts';
import type { PipeSupply } from './pipes.ts';
import { execEnvironment, homeOf } from './ssh-user.ts';

/** The parts for running commands that all nodes in a fleet share. */
export interface ExecParts {
  readonly pipes: PipeSupply;
  readonly groups: ProcessGroups;
  readonly starter: ProcessStarter;
  readonly watch: ReturnType<typeof createExecWatch>;
}

export interface ServedMac extends ServedNode, ExecParts {
  readonly name: string;
  readonly user: string;
  /** Absolute path of the folder that represents `/`. */
  readonly root: string;
  readonly keys: NodeKeys;
  /** Called when a client has sent a password to the sshd before FileVault. */
  readonly onPrebootPassword: () => void;
}

/** Records text that a Mac's shell would not understand in the node's `/.sim/unknown`. */
function record({ objectTo }: ServedMac, objections: readonly Objection[]): void {
  for (const { text } of objections) objectTo(`/bin/sh ${text}`).catch(() => undefined);
}

export interface SessionClient {
  /** Its software version, such as `OpenSSH_9.2p1`. */
  readonly software: string;
  /** Number of the connection on this node, from 1. */
  readonly connection: number;
  /** `address port` */
  readonly from: string;
  readonly to: string;
  /** After the login, the only command that the key may run, if there is one. */
  readonly login: { readonly command?: string | undefined };
}

/** sshd's MaxSessions. A session counts until its command has exited, even if its channel closed long before. */
const maxSessions = 10;
/** macOS's stock sshd_config has `AcceptEnv LANG LC_*`. */
const acceptedVariable = /^(LANG|LC_[A-Z0-9_]*)$/;

interface OneSession {
  readonly node: ServedMac;
  readonly client: SessionClient;
  readonly variables: Record<string, string>;
  running: ReturnType<typeof runExec> | undefined;
  isClosed: boolean;
  readonly settle: () => void;
}

/** Serves the session channels of an authenticated client like sshd: exec only, no terminal, no forwarding. */
export function serveSessions(connection: Connection, node: ServedMac, client: SessionClient): void {
  const open = new Set<OneSession>();
  connection.on('session', (accept, reject) => {
    if (open.size >= maxSessions) return reject();
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
    if (!acceptedVariable.test(key)) return refuse(reject);
    one.variables[key] = val;
    // Both are missing if the client wants no reply.
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
    startExec(channel, one.client.login.command ?? command, one).catch((error: unknown) => {
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
    atEpochMs: Date.now(),
    client: client.software,
    connection: client.connection,
    outputBytes: 0,
    objections: objections.map((objection) => objection.text),
  });
  const [first] = objections;
  if (first !== undefined) {
    record(node, objections);
    channel.stderr.write(`${first.text}\n`);
    channel.exit(first.code);
    channel.end();
    change({ exit: { kind: 'exited', code: first.code } });
    return;
  }
  const { root, user } = node;
  const connection = { client: client.from, server: client.to };
  const input = recordInput();
  const delay = createExecDelay(node.watch, input.text, { node: node.name, command, boot: node.boot() });
  const running = runExec({
    node,
    command,
    channel,
    pipes: await node.pipes.take(),
    environment: execEnvironment({ root, user, mark: node.mark(), accepted: one.variables, connection }),
    onInput: input.add,
    delay,
  });
  one.running = running;
  if (one.isClosed) running.abandon();
  const { exit, outputBytes } = await running.ended;
  const late = inputCheck(command, node.root)?.(input.text()) ?? [];
  record(node, late);
  change({ exit, outputBytes, objections: late.map((objection) => objection.text) });
  one.running = undefined;
  one.settle();
}

interface ExecOptions {
  readonly node: ServedMac;
  readonly command: string;
  readonly channel: ServerChannel;
  readonly pipes: Awaited<ReturnType<PipeSupply['take']>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly onInput: (chunk: Buffer) => void;
  readonly delay: ReturnType<typeof createExecDelay>;
}

/** Signals that sshd forwards, and that it can name in an exit-signal (OpenSSH session.c). */
const signalNames = 'ABRT ALRM FPE HUP ILL INT KILL PIPE QUIT SEGV TERM USR1 USR2'.split(' ');

/**
 * Starts a shell in its own group. @throws Error if the shell cannot be started, for example because the command line
 * is too long
 */
async function startShell({ node, command, pipes, environment }: ExecOptions): Promise<StartedProgram> {
  const group = node.groups.expect(node.name);
  try {
    const shell = await node.starter.start({
      program: '/bin/sh',
      words: ['sh', '-c', command],
      environment,
      folder: homeOf(node.root, node.user),
      stdio: pipes.paths,
    });
    group.started(shell.pid);
    return shell;
  } catch (error) {
    group.failed();
    throw error;
  } finally {
    pipes.handedOver();
  }
}

/** Reports the exit to the client like sshd, which adds a suffix to signals that are not in the RFC. */
function reportExit(channel: ServerChannel, exit: Exit): void {
  if (exit.kind === 'exited') channel.exit(exit.code);
  if (exit.kind !== 'signalled') return;
  const isNamed = signalNames.includes(exit.signal);
  channel.exit(isNamed ? exit.signal : `${exit.signal}@openssh.com`, false, '');
}

/** Forwards the client's bytes and end of file to the command. */
function feed({ channel, onInput, delay }: ExecOptions, stdin: Socket): void {
  channel.on('data', (chunk: Buffer) => {
    onInput(chunk);
    if (!stdin.writable || stdin.write(chunk)) return;
    channel.pause();
    stdin.once('drain', () => channel.resume());
  });
  stdin.once('close', () => channel.resume());
  channel.once('end', () => {
    stdin.end();
    delay.received();
  });
}

/**
 * Runs a command like sshd in a session without a terminal: the login shell with `-c`, its own process group, three
 * pipes. The client gets the exit code as soon as the shell has exited. The channel closes only when no process has the
 * command's output open anymore. So a background job with open output keeps the client waiting, as on a Mac.
 */
function runExec(options: ExecOptions) {
  const { channel, pipes, delay } = options;
  const { groups } = options.node;
  const { stdin, stdout, stderr } = pipes;
  const ours = [stdin, stdout, stderr];
  for (const socket of ours) socket.on('error', () => undefined);
  let group: number | undefined;
  // If the shell cannot be started, the client gets the same error as from sshd's child, with exit 1.
  const run = async (): Promise<Exit> => {
    try {
      const shell = await startShell(options);
      group = shell.pid;
      return await shell.ended;
    } catch (error) {
      channel.stderr.write(`/bin/sh: ${error instanceof Error ? error.message : String(error)}\n`);
      return { kind: 'exited', code: 1 };
    }
  };
  const shellExit = run();

  let leave = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const output = createChannelOutput(channel, delay.released);
  const drained = Promise.all([output.send(stdout, channel), output.send(stderr, channel.stderr)]).catch(
    () => undefined,
  );
  feed(options, stdin);

  const ended = shellExit.then(async (exit) => {
    if (group !== undefined) groups.leaderEnded(group);
    delay.received();
    await delay.released;
    reportExit(channel, exit);
    stdin.destroy();
    await Promise.race([drained, gone]);
    channel.end();
    return { exit, outputBytes: output.bytes() };
  });
  return {
    /** Resolves when the process has exited; its background jobs may continue. */
    ended,
    /** Called when the client is gone: closes our ends of the pipes. The command lives until its next write. */
    abandon: (): void => {
      leave();
      for (const socket of ours) socket.destroy();
    },
    /** Handles the `signal` request of RFC 4254, 6.9: signals the whole group. `name` has no SIG prefix. */
    signal: (name: string): void => {
      if (group !== undefined && signalNames.includes(name)) groups.signal(group, `SIG${name}`);
    },
  };
}

/**
 * ssh2 keeps a chunk that waited for window space even after sending it, and sends the chunk again when the channel's
 * other stream has to wait. Clearing all four fields before each write prevents that. This is safe, because only one
 * write is ever in progress.
 */
const waiting = ['_chunk', '_chunkcb', '_chunkErr', '_chunkcbErr'] as const;

/** Sends a command's output to its channel, with the client's back-pressure, and nothing before `released`. */
function createChannelOutput(channel: ServerChannel, released: Promise<void>) {
  let turn = released;
  let sent = 0;
  const write = (chunk: Buffer, to: Writable): Promise<void> => {
    turn = turn.then(
      () =>
        new Promise((resolve) => {
          for (const field of waiting) Reflect.set(channel, field, undefined);
          sent += chunk.length;
          to.write(chunk, () => resolve());
        }),
    );
    return turn;
  };
  return {
    /** Sends a whole stream; resolves at its end. Never settles if the channel closes meanwhile. */
    send: async (stream: Readable, to: Writable): Promise<void> => {
      for await (const chunk of stream) await write(chunk, to);
    },
    bytes: () => sent,
  };
}

const inputLimit = 1_048_576;

/** Records the beginning of a command's input. */
function recordInput() {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add: (chunk: Buffer): void => {
      if (size < inputLimit) chunks.push(chunk);
      size += chunk.length;
    },
    text: (): string => Buffer.concat(chunks).subarray(0, inputLimit).toString('utf8'),
  };
}

/**
 * Delays the output of one command until the command was received completely or has exited, and all listeners are done.
 * Without listeners, there is no delay. Output can be sent when `released` resolves.
 */
function createExecDelay(watch: ExecParts['watch'], input: () => string, exec: Omit<ReceivedExec, 'input'>) {
  if (!watch.isWatched()) return { received: () => undefined, released: Promise.resolve() };
  let received = (): void => undefined;
  const whole = new Promise<void>((resolve) => {
    received = resolve;
  });
  return { received, released: whole.then(() => watch.notify({ ...exec, input: input() })).catch(() => undefined) };
}

/** One received command, with all data sent to its standard input. */
export interface ReceivedExec {
  readonly node: string;
  readonly command: string;
  /** At most the first 1 MiB. */
  readonly input: string;
  /** Number of the boot session in which it runs. */
  readonly boot: number;
}

export function createExecWatch() {
  const listeners = new Set<(exec: ReceivedExec) => void | Promise<void>>();
  return {
    /**
     * Calls the listener for every command once its input is complete or the command has exited, and delays the output
     * until the listener is done. The returned function removes the listener.
     */
    add: (listener: (exec: ReceivedExec) => void | Promise<void>): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isWatched: () => listeners.size > 0,
    /** Resolves when every listener is done; a listener that fails counts as done. */
    notify: async (exec: ReceivedExec): Promise<void> => {
      for (const listener of [...listeners]) await Promise.resolve(listener(exec)).catch(() => undefined);
    },
  };
}
