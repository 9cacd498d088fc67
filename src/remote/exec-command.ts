import type { Client, ClientChannel } from 'ssh2';
import type { Exit } from '../model/probe.ts';
import { onAbort } from './on-abort.ts';
import { type ExecLimits, type ExecResult, type UnknownExit, unknownExit } from './remote.ts';

/** A command that waits for, or has, a channel. */
export interface CommandRequest {
  readonly command: string;
  readonly limits: ExecLimits;
  readonly resolve: (result: ExecResult) => void;
}

/** What a running command tells its connection. */
export interface CommandHooks {
  /** The channel is gone, so another one may be opened. */
  readonly released: () => void;
  /** The node opened no channel; true when the connection will ask again later. */
  readonly refused: () => boolean;
  /** The result is out, but the node has not closed the channel. */
  readonly abandoned: () => void;
  /** So many bytes of output were taken, as they were asked for. */
  readonly received: (bytes: number) => void;
}

/** A command on its way; `lose` ends it when the connection is gone. */
export interface RunningCommand {
  readonly lose: (exit: UnknownExit) => void;
}

const longestTimerMs = 2 ** 31 - 1;

/** Everything that changes while a command runs. */
interface State {
  channel?: ClientChannel;
  exit?: Exit;
  isSettled: boolean;
  isOutputWhole: boolean;
  room: number;
  isTruncated: boolean;
}

function exitOf(code: number | null | undefined, signal: string | undefined): Exit {
  if (typeof code === 'number') return { kind: 'exited', code };
  return { kind: 'signalled', signal: (signal ?? 'unknown').replace(/^SIG/u, '') };
}

/** As much of a chunk as there is room for. */
function takePiece(state: State, chunk: Buffer): Buffer {
  const piece = chunk.subarray(0, state.room);
  state.isTruncated = chunk.length > state.room;
  state.room -= piece.length;
  return piece;
}

type Stream = 'stdout' | 'stderr';

/** What collecting output tells. */
interface CollectorHooks {
  readonly taken: (chunk: Buffer) => void;
  readonly tooLong: () => void;
  readonly onOutput: ExecLimits['onOutput'];
}

/** What takes the output of a command until it is settled, or has said more than it may. */
function collectors(state: State, out: Readonly<Record<Stream, OutputSink>>, hooks: CollectorHooks) {
  const collect =
    (stream: Stream) =>
    (chunk: Buffer): void => {
      if (state.isSettled) return;
      hooks.taken(chunk);
      const piece = takePiece(state, chunk);
      out[stream].append(piece);
      if (piece.length > 0) hooks.onOutput?.(stream, piece);
      if (state.isTruncated) hooks.tooLong();
    };
  return { stdout: collect('stdout'), stderr: collect('stderr') };
}

/** Starts one command on a channel of its own and settles its request exactly once, whatever the node does. */
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
    // sshd hands it to the process group of the session; a closed channel alone ends nothing that prints nothing.
    state.channel?.signal('TERM');
    abandon(unknownExit.ended);
  });
  openChannel(client, command, {
    opened: (channel) => {
      state.channel = channel;
      const taken = (chunk: Buffer): void => {
        moved();
        hooks.received(chunk.length);
      };
      const tooLong = (): void => abandon(unknownExit.tooLong(limits.maxBytes));
      const collected = collectors(state, out, { taken, tooLong, onOutput: limits.onOutput });
      const closed = (): void => {
        settle(state.exit ?? unknownExit.noCode);
        hooks.released();
      };
      listen(channel, state, { ...collected, closed });
      if (state.isSettled) channel.close();
      else feedInput(channel, limits.stdin, { moved, broken: () => abandon(unknownExit.noInput) });
    },
    failed: (exit, isRefused) => {
      if (isRefused && !state.isSettled && hooks.refused()) clearTimeout(timer);
      else settle(exit);
      hooks.released();
    },
  });
  return {
    lose: (exit) => {
      const isKnown = state.exit !== undefined && state.isOutputWhole;
      settle(isKnown && state.exit !== undefined ? state.exit : exit);
    },
  };
}

interface Opening {
  readonly opened: (channel: ClientChannel) => void;
  /** `isRefused` when the node said no to the channel itself, so that nothing ran. */
  readonly failed: (exit: UnknownExit, isRefused: boolean) => void;
}

function openChannel(client: Client, command: string, { opened, failed }: Opening): void {
  try {
    client.exec(command, (error, channel) => {
      if (error) failed(unknownExit.noChannel, 'reason' in error);
      else opened(channel);
    });
  } catch (error) {
    // The socket is half closed and its end not yet announced: ssh2 throws instead of calling back.
    const why = error instanceof Error ? error.message : String(error);
    queueMicrotask(() => failed(unknownExit.dropped(why), false));
  }
}

interface Listeners {
  readonly stdout: (chunk: Buffer) => void;
  readonly stderr: (chunk: Buffer) => void;
  readonly closed: () => void;
}

function listen(channel: ClientChannel, state: State, listeners: Listeners): void {
  const pending = new Set(['stdout', 'stderr']);
  const over = (stream: string) => (): void => {
    pending.delete(stream);
    if (pending.size === 0) listeners.closed();
  };
  const ends = new Set<string>();
  const ended = (stream: string) => (): void => {
    ends.add(stream);
    state.isOutputWhole = ends.size === 2;
  };
  channel.on('exit', (code: number | null, signal?: string) => {
    state.exit = exitOf(code, signal);
  });
  // Both are always drained: a full window on either would stop the whole channel (ssh2 #498).
  channel.on('data', listeners.stdout).on('end', ended('stdout')).on('close', over('stdout'));
  channel.stderr.on('data', listeners.stderr).on('end', ended('stderr')).on('close', over('stderr'));
  channel.on('error', () => undefined);
}
/** Gathers output of a command in one growing piece of memory, however small the packets are in which it comes. */
interface OutputSink {
  append(chunk: Uint8Array): void;
  take(): Uint8Array;
}

const firstBytes = 4096;

/** An empty sink. Its memory is at most twice what was appended. */
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

/** What feeding a command's standard input tells. */
interface FeedHooks {
  /** A piece was handed to the connection, which has room for the next one. */
  readonly moved: () => void;
  /** The pieces ended with an error: what the command has read is not the whole. */
  readonly broken: () => void;
}

/**
 * Gives a command its standard input and ends it. Pieces are asked for one at a time, as fast as the node reads them;
 * a command that ends early is asked for no more.
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

/** Room for more, or an end of the channel. */
const roomIn = (channel: ClientChannel): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      channel.off('drain', over).off('close', over).off('error', over);
      resolve();
    };
    channel.on('drain', over).on('close', over).on('error', over);
  });
