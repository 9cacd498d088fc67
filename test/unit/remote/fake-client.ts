import { EventEmitter } from 'node:events';
import type { Client } from 'ssh2';

/** A channel whose events come only from the test. It records its calls. */
export class FakeChannel extends EventEmitter {
  readonly stderr = new EventEmitter();
  readonly asked: string[] = [];
  readonly writable = true;
  close(): void {
    this.asked.push('close');
  }
  signal(name: string): void {
    this.asked.push(`signal ${name}`);
  }
  end(bytes?: Buffer): void {
    this.asked.push(`end ${bytes ?? ''}`.trim());
  }
  write(bytes: Buffer): boolean {
    this.asked.push(`write ${bytes}`);
    return true;
  }
  /** Ends and closes both streams. */
  finish(): void {
    for (const event of ['end', 'close']) for (const one of [this, this.stderr]) one.emit(event);
  }
}

/** A connection that opens no channel before the test answers. */
export class FakeClient extends EventEmitter {
  readonly commands: string[] = [];
  readonly asked: string[] = [];
  readonly #waiting: ((error: Error | undefined, channel?: FakeChannel) => void)[] = [];
  exec(command: string, done: (error: Error | undefined, channel?: FakeChannel) => void): void {
    this.commands.push(command);
    this.#waiting.push(done);
  }
  end(): void {
    this.asked.push('end');
  }
  /** Opens a channel for the command that has waited longest. */
  open(): FakeChannel {
    const channel = new FakeChannel();
    this.#waiting.shift()?.(undefined, channel);
    return channel;
  }
  /** Opens no channel for the command; with a reason, the node itself refused the channel. */
  refuse(reason?: number): void {
    this.#waiting.shift()?.(Object.assign(new Error('no channel'), reason === undefined ? {} : { reason }));
  }
  get real(): Client {
    return this as unknown as Client;
  }
}
