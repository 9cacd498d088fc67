import type { Socket } from 'node:net';
import type { Client, ClientChannel } from 'ssh2';
import type { Exit } from '../model/probe.ts';
import { onAbort } from './on-abort.ts';
import { type ExecLimits, type ExecResult, type Remote, type UnknownExit, unknownExit } from './remote.ts';

/** sshd allows ten sessions per connection (MaxSessions). Eight leave room for other multiplexed sessions. */
const maxChannels = 8;
/**
 * Pauses before a refused channel is requested again: sshd counts a session until it has reaped its process, shortly
 * after the channel closed. If no other channel is open, this many consecutive refusals are final.
 */
const refusalPausesMs = [20, 40, 80, 160, 320, 640] as const;
const longestPauseMs = 1_000;
const lingerMs = 1_000;
/**
 * Beyond this many unrequested bytes, a node is flooding us. A correct sshd sends at most its 2 MiB window after a
 * channel closed. A one-byte packet takes about 40 bytes, hence the factor.
 */
const unaskedBytes = 32 * 1024 * 1024;
const bytesPerAskedByte = 64;

/** A connection of the built-in client. Only `connect` creates it, after it verified the host key. */
export class SshRemote implements Remote {
  readonly rootPrefix: string;
  readonly connectMs: number;
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #waiting: CommandRequest[] = [];
  readonly #running = new Set<RunningCommand>();
  #open = 0;
  #abandoned = 0;
  #limit = maxChannels;
  #hasRun = false;
  #refusals = 0;
  #resting: NodeJS.Timeout | undefined;
  #lost: UnknownExit | undefined;
  #askedBytes = 0;

  constructor(client: Client, socket: Socket, about: Pick<Remote, 'rootPrefix' | 'connectMs'>) {
    this.rootPrefix = about.rootPrefix;
    this.connectMs = about.connectMs;
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

  exec(command: string, limits: ExecLimits): Promise<ExecResult> {
    return new Promise((resolve) => {
      this.#waiting.push({ command, limits, resolve });
      this.#advance();
    });
  }

  close(): void {
    this.#lose(unknownExit.closed);
    this.#client.end();
    // A node that does not answer our disconnect must not keep the process alive.
    this.#socket.unref();
    setTimeout(() => this.#socket.destroy(), lingerMs).unref();
  }

  #advance(): void {
    while (this.#waiting.length > 0 && (this.#lost !== undefined || this.#open < this.#limit)) {
      const request = this.#waiting.shift();
      if (request === undefined) return;
      if (this.#lost === undefined) this.#start(request);
      else this.#refuse(request, this.#lost);
    }
  }

  #refuse(request: CommandRequest, exit: UnknownExit): void {
    const now = Date.now();
    const nothing = { stdout: new Uint8Array(), stderr: new Uint8Array(), isTruncated: false };
    request.resolve({ exit, ...nothing, sentAtEpochMs: now, receivedAtEpochMs: now });
  }

  #start(request: CommandRequest): void {
    this.#open += 1;
    let isAbandoned = false;
    let isRefused = false;
    const running = startCommand(this.#client, request, {
      released: () => {
        this.#open -= 1;
        if (isAbandoned) this.#abandoned -= 1;
        if (!isRefused) this.#noteRun();
        this.#running.delete(running);
        this.#advance();
      },
      refused: () => {
        isRefused = true;
        return this.#askAgainLater(request);
      },
      abandoned: () => {
        isAbandoned = true;
        this.#abandoned += 1;
        // All channels are blocked by commands that outlived their deadline, so nothing can run here anymore.
        if (this.#abandoned >= this.#limit) this.#drop('all channels are blocked by commands that do not finish');
      },
      received: (bytes) => {
        this.#askedBytes += bytes;
      },
    });
    this.#running.add(running);
  }

  #noteRun(): void {
    this.#hasRun = true;
    this.#refusals = 0;
  }

  /** A refused channel ran nothing, so its command can be sent again when another command ends, or after a pause. */
  #askAgainLater(request: CommandRequest): boolean {
    const others = this.#open - 1;
    const pauseMs = refusalPausesMs[this.#refusals];
    if (this.#lost !== undefined) return false;
    if (others === 0 && (!this.#hasRun || pauseMs === undefined)) return false;
    this.#refusals += 1;
    this.#limit = others;
    this.#waiting.unshift(request);
    this.#rest(pauseMs ?? longestPauseMs);
    return true;
  }

  /** Allows one more channel after each pause, until all are allowed again. */
  #rest(pauseMs: number): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#limit += 1;
      if (this.#limit < maxChannels) this.#rest(longestPauseMs);
      this.#advance();
    }, pauseMs).unref();
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
    this.#advance();
  }
}

/** A command with a channel, or waiting for one. */
interface CommandRequest {
  readonly command: string;
  readonly limits: ExecLimits;
  readonly resolve: (result: ExecResult) => void;
}

/** Events of a running command for its connection. */
export interface CommandHooks {
  /** The channel is free, so another one can be opened. */
  readonly released: () => void;
  /** The node refused the channel; returns true if the connection will retry later. */
  readonly refused: () => boolean;
  /** The result is settled, but the node has not closed the channel. */
  readonly abandoned: () => void;
  /** Number of requested output bytes received. */
  readonly received: (bytes: number) => void;
}

/** A running command; `lose` settles it when the connection is lost. */
interface RunningCommand {
  readonly lose: (exit: UnknownExit) => void;
}

const longestTimerMs = 2 ** 31 - 1;

/** The mutable state of a running command. */
interface State {
  channel?: ClientChannel;
  exit?: Exit;
  isSettled: boolean;
  isOutputWhole: boolean;
  room: number;
  isTruncated: boolean;
}

type Stream = 'stdout' | 'stderr';

/** Starts one command on its own channel and settles its request exactly once, whatever the node does. */
export function startCommand(client: Client, request: CommandRequest, hooks: CommandHooks): RunningCommand {
  const { command, limits, resolve } = request;
  const out = { stdout: createSink(), stderr: createSink() };
  const sentAtEpochMs = Date.now();
  const state: State = { isSettled: false, isOutputWhole: false, room: limits.maxBytes, isTruncated: false };

  let forget = (): void => undefined;
  const settle = (exit: Exit): void => {
    if (state.isSettled) return;
    state.isSettled = true;
    clearTimeout(timer);
    forget();
    const output = { stdout: out.stdout.take(), stderr: out.stderr.take(), isTruncated: state.isTruncated };
    resolve({ exit, ...output, sentAtEpochMs, receivedAtEpochMs: Date.now() });
  };
  const abandon = (exit: UnknownExit): void => {
    settle(exit);
    state.channel?.close();
    hooks.abandoned();
  };
  const late = (): void => abandon(unknownExit.late(limits.deadlineMs));
  const timer = setTimeout(late, Math.min(limits.deadlineMs, longestTimerMs));

  const moved = (): void => {
    if (limits.isDeadlineIdle === true && !state.isSettled) timer.refresh();
  };
  forget = onAbort(limits.signal, () => {
    // sshd signals the session's process group. Closing the channel alone would not stop a command that prints nothing.
    state.channel?.signal('TERM');
    abandon(unknownExit.ended);
  });
  const collect = (stream: Stream, chunk: Buffer): void => {
    if (state.isSettled) return;
    moved();
    hooks.received(chunk.length);
    const piece = chunk.subarray(0, state.room);
    state.isTruncated = chunk.length > state.room;
    state.room -= piece.length;
    out[stream].append(piece);
    if (piece.length > 0) limits.onOutput?.(stream, piece);
    if (state.isTruncated) abandon(unknownExit.tooLong(limits.maxBytes));
  };
  const opened = (channel: ClientChannel): void => {
    state.channel = channel;
    listen(channel, state, collect, () => {
      settle(state.exit ?? unknownExit.noCode);
      hooks.released();
    });
    if (state.isSettled) channel.close();
    else feedInput(channel, limits.stdin, { moved, broken: () => abandon(unknownExit.noInput) });
  };
  /** `isRefused`: the node refused the channel itself, so nothing ran. */
  const failed = (exit: UnknownExit, isRefused: boolean): void => {
    if (isRefused && !state.isSettled && hooks.refused()) clearTimeout(timer);
    else settle(exit);
    hooks.released();
  };
  try {
    client.exec(command, (error, channel) => {
      if (error) failed(unknownExit.noChannel, 'reason' in error);
      else opened(channel);
    });
  } catch (error) {
    // The socket is half closed, but ssh2 does not know yet: it throws instead of calling back.
    const why = error instanceof Error ? error.message : String(error);
    queueMicrotask(() => failed(unknownExit.dropped(why), false));
  }
  return { lose: (exit) => settle(state.isOutputWhole ? (state.exit ?? exit) : exit) };
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

/** Collects output in one growing buffer, however small the packets are. */
interface OutputSink {
  append(chunk: Uint8Array): void;
  take(): Uint8Array;
}

const firstBytes = 4096;

/** An empty sink. It uses at most twice the memory of its content. */
export function createSink(): OutputSink {
  let bytes = Buffer.alloc(0);
  let used = 0;
  return {
    append: (chunk) => {
      const needed = used + chunk.length;
      if (needed > bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(firstBytes, needed, bytes.length * 2));
        bytes.copy(grown, 0, 0, used);
        bytes = grown;
      }
      bytes.set(chunk, used);
      used = needed;
    },
    take: () => bytes.subarray(0, used),
  };
}

/** Events while a command gets its input. */
interface FeedHooks {
  /** A piece was handed over, and the connection has room for the next one. */
  readonly moved: () => void;
  /** Reading the input failed, so the command got only part of it. */
  readonly broken: () => void;
}

/**
 * Sends a command its standard input and closes it. Pieces are read one at a time, as fast as the node takes them, and
 * no more after the command ended.
 */
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
