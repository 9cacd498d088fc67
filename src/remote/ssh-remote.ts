import type { Socket } from 'node:net';
import type { Client, ClientCallback, ClientChannel } from 'ssh2';
import type { HostKey } from '../model/cluster-lock.ts';
import { given } from '../model/given.ts';
import type { Exit } from '../model/probe.ts';
import { onAbort } from './on-abort.ts';
import {
  type ExecLimits,
  type ExecResult,
  type Remote,
  type RemoteListener,
  type Target,
  type UnknownExit,
  unknownExit,
} from './remote.ts';

/** sshd allows ten sessions per connection (MaxSessions); eight leaves room for other multiplexed ones. */
const maxChannels = 8;
/**
 * Pauses before a refused channel is requested again. sshd counts a session until it has reaped the session's process,
 * shortly after the channel closes. If no other channel is open, this many consecutive refusals are final.
 */
const refusalPausesMs = [20, 40, 80, 160, 320, 640] as const;
const longestPauseMs = 1_000;
const lingerMs = 1_000;
/**
 * Number of unrequested bytes above which a node is flooding us. After a channel closes, a correct sshd sends at most
 * its window of 2 MiB. A one-byte packet takes about 40 bytes, hence the higher limit.
 */
const unaskedBytes = 32 * 1024 * 1024;
const bytesPerAskedByte = 64;

interface Login extends Pick<Remote, 'connectMs' | 'hostKey'> {
  readonly target: Pick<Target, 'label' | 'rootPrefix'>;
  readonly onRemote?: RemoteListener;
}

/** A connection of the built-in client. Only `connect` creates it, after the host key was verified. */
export class SshRemote implements Remote {
  readonly rootPrefix: string;
  readonly connectMs: number;
  readonly hostKey?: HostKey;
  readonly #login: Login;
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #waiting: (() => void)[] = [];
  readonly #running = new Set<RunningCommand>();
  #open = 0;
  #limit = maxChannels;
  #hasRun = false;
  #refusals = 0;
  #resting: NodeJS.Timeout | undefined;
  #lost: UnknownExit | undefined;
  #askedBytes = 0;

  constructor(client: Client, socket: Socket, login: Login) {
    this.rootPrefix = login.target.rootPrefix;
    this.connectMs = login.connectMs;
    if (login.hostKey !== undefined) this.hostKey = login.hostKey;
    this.#login = login;
    this.#client = client;
    this.#socket = socket;
    let why = 'the node closed the connection';
    client.on('error', (error) => {
      why = error.message;
    });
    client.on('close', () => this.#lose(unknownExit.dropped(why)));
    socket.on('data', () => {
      const asked = unaskedBytes + this.#askedBytes * bytesPerAskedByte;
      if (this.#lost === undefined && socket.bytesRead > asked) this.#drop('the node keeps sending unrequested data');
    });
  }

  async exec(command: string, limits: ExecLimits): Promise<ExecResult> {
    const { target, onRemote } = this.#login;
    const about = { node: target.label, name: limits.name };
    onRemote?.({ kind: 'sent', ...about, command, ...given({ script: limits.script }) });
    let result: ExecResult;
    let isAgain = false;
    do {
      if (this.#open < this.#limit) this.#open += 1;
      else if (this.#lost === undefined) await this.#channel(isAgain);
      isAgain = false;
      const running = createRunningCommand(limits, {
        received: (bytes) => {
          this.#askedBytes += bytes;
        },
        closed: (isRefused) => {
          isAgain = this.#free(running, isRefused);
        },
      });
      this.#running.add(running);
      try {
        if (this.#lost !== undefined) running.lose(this.#lost);
        else if (running.isAbandoned()) running.failed(unknownExit.ended);
        else this.#client.exec(command, running.answered);
      } catch (error) {
        // The socket is half closed, but ssh2 has not noticed yet: it throws instead of calling back.
        running.failed(unknownExit.dropped(error instanceof Error ? error.message : String(error)));
      }
      result = await running.result;
      if (running.isAbandoned()) this.#dropIfBlocked();
    } while (isAgain);
    const { exit, sentAtEpochMs, receivedAtEpochMs } = result;
    onRemote?.({ kind: 'answered', ...about, exit, ms: receivedAtEpochMs - sentAtEpochMs });
    return result;
  }

  close(): void {
    this.#lose(unknownExit.closed);
    this.#client.end();
    // A node that does not answer our disconnect message must not keep the process alive.
    this.#socket.unref();
    setTimeout(() => this.#socket.destroy(), lingerMs).unref();
  }

  /** Resolves when the command has a channel or the connection is lost. A refused command is first in the queue. */
  #channel(isRefused: boolean): Promise<void> {
    return new Promise((go) => (isRefused ? this.#waiting.unshift(go) : this.#waiting.push(go)));
  }

  /** Frees a channel. True if the node refused it but may accept the command later; then nothing ran. */
  #free(running: RunningCommand, isRefused: boolean): boolean {
    this.#running.delete(running);
    this.#open -= 1;
    const pauseMs = refusalPausesMs[this.#refusals];
    const isAgain = isRefused && (this.#open > 0 || (this.#hasRun && pauseMs !== undefined));
    if (isAgain) {
      this.#refusals += 1;
      this.#limit = this.#open;
      this.#rest(pauseMs ?? longestPauseMs);
    } else if (!isRefused) {
      this.#hasRun = true;
      this.#refusals = 0;
    }
    this.#fill();
    return isAgain;
  }

  /** Assigns free channels to waiting commands. */
  #fill(): void {
    for (; this.#open < this.#limit && this.#waiting.length > 0; this.#open += 1) this.#waiting.shift()?.();
  }

  /** After a refusal, allows one more channel after each pause until all are allowed again. */
  #rest(pauseMs: number): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#limit += 1;
      if (this.#limit < maxChannels) this.#rest(longestPauseMs);
      this.#fill();
    }, pauseMs).unref();
  }

  /** Drops the connection if commands beyond their limits block all channels: nothing can run on it. */
  #dropIfBlocked(): void {
    const blocked = [...this.#running].filter((running) => running.isAbandoned());
    if (blocked.length >= Math.max(1, this.#limit))
      this.#drop('all channels are blocked by commands that do not finish');
  }

  #drop(reason: string): void {
    this.#lose(unknownExit.dropped(reason));
    this.#socket.destroy();
  }

  #lose(exit: UnknownExit): void {
    this.#lost ??= exit;
    clearTimeout(this.#resting);
    for (const running of this.#running) running.lose(this.#lost);
    this.#running.clear();
    for (const go of this.#waiting.splice(0)) go();
  }
}

/** Events of a running command that its connection handles. */
export interface CommandHooks {
  /** Called with the number of requested output bytes received. */
  readonly received: (bytes: number) => void;
  /** Called when the channel is free again. `isRefused`: the node refused the channel itself, so nothing ran. */
  readonly closed: (isRefused: boolean) => void;
}

/** A command that has or has requested a channel. The result is settled exactly once, whatever the node does. */
interface RunningCommand {
  readonly result: Promise<ExecResult>;
  /** Handles the answer to the channel request. */
  readonly answered: ClientCallback;
  /** Called if the channel request failed. */
  readonly failed: (exit: UnknownExit, isRefused?: boolean) => void;
  /** Whether the result is settled although the node has not closed the channel. */
  readonly isAbandoned: () => boolean;
  /** Settles the result when the connection is lost. */
  readonly lose: (exit: UnknownExit) => void;
}

const longestTimerMs = 2 ** 31 - 1;

/** The mutable state of a running command. */
interface State {
  channel?: ClientChannel;
  exit?: Exit;
  isSettled: boolean;
  isAbandoned: boolean;
  isOutputWhole: boolean;
}

type Stream = 'stdout' | 'stderr';

export function createRunningCommand(limits: ExecLimits, hooks: CommandHooks): RunningCommand {
  const output = createOutput(limits.maxBytes);
  const sentAtEpochMs = Date.now();
  const state: State = { isSettled: false, isAbandoned: false, isOutputWhole: false };
  let resolve: (result: ExecResult) => void;
  const result = new Promise<ExecResult>((done) => {
    resolve = done;
  });
  let forget = (): void => undefined;
  const settle = (exit: Exit): void => {
    if (state.isSettled) return;
    state.isSettled = true;
    clearTimeout(timer);
    forget();
    resolve({ exit, ...output.take(), sentAtEpochMs, receivedAtEpochMs: Date.now() });
  };
  const stop = (channel: ClientChannel): void => {
    // sshd signals the session's process group. Just closing the channel would not stop a command that prints nothing.
    if (limits.signal?.aborted === true) channel.signal('TERM');
    channel.close();
  };
  const abandon = (exit: UnknownExit): void => {
    settle(exit);
    state.isAbandoned = true;
    if (state.channel !== undefined) stop(state.channel);
  };
  const late = (): void => abandon(unknownExit.late(limits.deadlineMs));
  const timer = setTimeout(late, Math.min(limits.deadlineMs, longestTimerMs));
  const moved = (): void => {
    if (limits.isDeadlineIdle === true && !state.isSettled) timer.refresh();
  };
  forget = onAbort(limits.signal, () => abandon(unknownExit.ended));
  const collect = (stream: Stream, chunk: Buffer): void => {
    if (state.isSettled) return;
    moved();
    hooks.received(chunk.length);
    const piece = output.append(stream, chunk);
    if (piece.length > 0) limits.onOutput?.(stream, piece);
    if (piece.length < chunk.length) abandon(unknownExit.tooLong(limits.maxBytes));
  };
  const opened = (channel: ClientChannel): void => {
    state.channel = channel;
    listen(channel, state, collect, () => {
      settle(state.exit ?? unknownExit.noCode);
      hooks.closed(false);
    });
    if (state.isSettled) stop(channel);
    else feedInput(channel, limits.stdin, { moved, broken: () => abandon(unknownExit.noInput) });
  };
  const failed = (exit: UnknownExit, isRefused = false): void => {
    hooks.closed(isRefused && !state.isSettled);
    settle(exit);
  };
  return {
    result,
    answered: (error, channel) => (error ? failed(unknownExit.noChannel, 'reason' in error) : opened(channel)),
    failed,
    isAbandoned: () => state.isAbandoned,
    lose: (exit) => settle(state.isOutputWhole ? (state.exit ?? exit) : exit),
  };
}

/** Records the exit and the ends of the output; calls `closed` once both streams are closed. */
function listen(
  channel: ClientChannel,
  state: State,
  collect: (stream: Stream, chunk: Buffer) => void,
  closed: () => void,
): void {
  channel.on('exit', (code: number | null, signal = 'unknown') => {
    state.exit =
      typeof code === 'number' ? { kind: 'exited', code } : { kind: 'signalled', signal: signal.replace(/^SIG/u, '') };
  });
  channel.on('error', () => undefined);
  const ended = new Set<Stream>();
  const pending = new Set<Stream>(['stdout', 'stderr']);
  // Both streams are always drained: a full window on one would block the whole channel (ssh2 #498).
  for (const [name, stream] of [
    ['stdout', channel],
    ['stderr', channel.stderr],
  ] as const) {
    stream.on('data', (chunk: Buffer) => collect(name, chunk));
    stream.on('end', () => {
      ended.add(name);
      state.isOutputWhole = ended.size === 2;
    });
    stream.on('close', () => {
      pending.delete(name);
      if (pending.size === 0) closed();
    });
  }
}

/** Collects a command's output, up to a limit for both streams together. */
function createOutput(maxBytes: number) {
  const out = { stdout: createSink(), stderr: createSink() };
  let room = maxBytes;
  let isTruncated = false;
  return {
    /** Appends a chunk and returns the part that is within the limit. */
    append: (stream: Stream, chunk: Buffer): Buffer => {
      const piece = chunk.subarray(0, room);
      isTruncated = piece.length < chunk.length;
      room -= piece.length;
      out[stream].append(piece);
      return piece;
    },
    take: () => ({ stdout: out.stdout.take(), stderr: out.stderr.take(), isTruncated }),
  };
}

const firstBytes = 4096;

/** Collects output in one growing buffer, which takes at most twice the memory of its content. */
export function createSink() {
  let bytes = Buffer.alloc(0);
  let used = 0;
  return {
    append: (chunk: Uint8Array): void => {
      const needed = used + chunk.length;
      if (needed > bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(firstBytes, needed, bytes.length * 2));
        bytes.copy(grown, 0, 0, used);
        bytes = grown;
      }
      bytes.set(chunk, used);
      used = needed;
    },
    take: (): Uint8Array => bytes.subarray(0, used),
  };
}

/** Events while a command receives its input. */
interface FeedHooks {
  /** A piece was sent, and the connection has room for the next one. */
  readonly moved: () => void;
  /** Reading the input failed, so the command got only part of it. */
  readonly broken: () => void;
}

/** Sends a command its input, piece by piece as fast as the node accepts it, until the command exits. */
export function feedInput(channel: ClientChannel, input: ExecLimits['stdin'], hooks: FeedHooks): void {
  if (input === undefined) channel.end();
  else if (input instanceof Uint8Array) channel.end(Buffer.from(input));
  else feedPieces(channel, input, hooks).catch(() => hooks.broken());
}

async function feedPieces(channel: ClientChannel, pieces: AsyncIterable<Uint8Array>, hooks: FeedHooks): Promise<void> {
  for await (const piece of pieces) {
    if (!channel.writable) return;
    if (!channel.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))) await roomIn(channel);
    hooks.moved();
  }
  channel.end();
}

/** Resolves when there is room for more input, or when the channel ends. */
const roomIn = (channel: ClientChannel): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      channel.off('drain', over).off('close', over).off('error', over);
      resolve();
    };
    channel.on('drain', over).on('close', over).on('error', over);
  });
