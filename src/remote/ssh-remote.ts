import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import { type CommandRequest, type RunningCommand, startCommand } from './exec-command.ts';
import { type ExecLimits, type ExecResult, type Remote, type UnknownExit, unknownExit } from './remote.ts';

/** sshd allows ten sessions on a connection (MaxSessions); eight leave room for somebody else's multiplexing. */
const maxChannels = 8;
/**
 * Before a channel that was refused is asked for again: sshd counts a session until it has reaped its process, a moment
 * after the channel was closed. Where nothing else is open, so many refusals in a row are a no.
 */
const refusalPausesMs = [20, 40, 80, 160, 320, 640] as const;
const longestPauseMs = 1_000;
const lingerMs = 1_000;
/**
 * Beyond this much that nobody asked for, a node is flooding us. An honest sshd sends a window of 2 MiB at most after
 * a channel was closed; and a packet of one byte is some 40 bytes long, hence the factor.
 */
const unaskedBytes = 32 * 1024 * 1024;
const bytesPerAskedByte = 64;

/** A connection of the built-in client. Made by `connect` alone, after the host key was verified. */
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
    let why = 'the node closed it';
    client.on('error', (error) => {
      why = error.message;
    });
    client.on('close', () => this.#lose(unknownExit.dropped(why)));
    socket.on('data', () => {
      const asked = unaskedBytes + this.#askedBytes * bytesPerAskedByte;
      if (this.#lost === undefined && socket.bytesRead > asked)
        this.#drop('the node goes on sending what nobody asked for');
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
    // A node that never answers our goodbye must not keep the process alive.
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
        // Every channel is held by a command that outlived its deadline: nothing can run here any more.
        if (this.#abandoned >= this.#limit) this.#drop('every channel is held by a command that does not end');
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

  /** A refused channel ran nothing, so its command may be asked again: when another one has ended, or after a pause. */
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

  /** Allows one channel more after a pause, and one more after each further one, until all are allowed again. */
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
