import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { diagnoseExit, type ExecResult, type RemoteEvent, unknownExit } from '../../../src/remote/remote.ts';
import { SshRemote } from '../../../src/remote/ssh-remote.ts';
import { FakeClient } from './fake-client.ts';

const mebibyte = 1024 * 1024;
const limits = { name: 'test', deadlineMs: 60_000, maxBytes: 1_000 };

class FakeSocket extends EventEmitter {
  readonly asked: string[] = [];
  bytesRead = 0;
  unref(): void {
    this.asked.push('unref');
  }
  destroy(): void {
    this.asked.push('destroy');
  }
}

/** Lets time pass, and runs everything that waited for this time. */
const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A connection on which the test answers in place of the node. */
function connected() {
  const [client, socket] = [new FakeClient(), new FakeSocket()];
  const events: RemoteEvent[] = [];
  const onRemote = (event: RemoteEvent): void => void events.push(event);
  const login = { target: { label: 'studio-1', rootPrefix: '/sim' }, connectMs: 12, onRemote };
  const remote = new SshRemote(client.real, socket as unknown as Socket, login);
  const results: ExecResult[] = [];
  const exec = (command: string, deadlineMs = 60_000): void => {
    void remote.exec(command, { ...limits, deadlineMs }).then((one) => results.push(one));
  };
  const exits = async () => {
    await later(0);
    return results.splice(0).map(({ exit }) => (exit.kind === 'unknown' ? exit.reason : exit.kind));
  };
  const receive = (bytesRead: number): void => {
    socket.bytesRead = bytesRead;
    socket.emit('data');
  };
  return { client, socket, remote, exec, exits, receive, results, events };
}

/** Ends a command that has a channel. */
function finish(channel: ReturnType<FakeClient['open']>): void {
  channel.emit('exit', 0);
  channel.finish();
}

beforeEach(() => {
  vi.useFakeTimers({ now: 5_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('an SSH connection', () => {
  it('runs eight commands in parallel, and the others in order', async () => {
    const { client, remote, exec, exits } = connected();
    expect([remote.rootPrefix, remote.connectMs]).toEqual(['/sim', 12]);
    for (let at = 1; at <= 10; at += 1) exec(`${at}`);
    expect(client.commands).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    finish(client.open());
    await later(0);
    expect(client.commands.slice(8)).toEqual(['9']);
    finish(client.open());
    await later(0);
    expect(client.commands.slice(8)).toEqual(['9', '10']);
    expect(await exits()).toEqual(['exited', 'exited']);
  });

  it('reports each command with its script once before it is sent, and then its exit', async () => {
    const { client, remote, events } = connected();
    const [first, second] = ['1', '2'].map((command) => remote.exec(command, { ...limits, script: 'true' }));
    finish(client.open());
    await first;
    client.refuse(1);
    await later(27);
    finish(client.open());
    await second;
    const about = { node: 'studio-1', name: 'test' };
    const exit = { kind: 'exited', code: 0 };
    expect(client.commands).toEqual(['1', '2', '2']);
    expect(events).toEqual([
      { kind: 'sent', ...about, command: '1', script: 'true' },
      { kind: 'sent', ...about, command: '2', script: 'true' },
      { kind: 'answered', ...about, exit, ms: 0 },
      { kind: 'answered', ...about, exit, ms: 7 },
    ]);
  });

  it('does not send a command that its listener rejects', async () => {
    const { client } = connected();
    const onRemote = (): never => {
      throw new Error('cannot be recorded');
    };
    const login = { target: { label: 'studio-1', rootPrefix: '' }, connectMs: 1, onRemote };
    const remote = new SshRemote(client.real, new FakeSocket() as unknown as Socket, login);
    await expect(remote.exec('1', limits)).rejects.toThrow('cannot be recorded');
    expect(client.commands).toEqual([]);
  });

  it('does not send a command that was aborted while it waited for a channel', async () => {
    const { client, remote, exec } = connected();
    for (let at = 1; at <= 8; at += 1) exec(`${at}`);
    const run = new AbortController();
    const aborted = remote.exec('9', { ...limits, signal: run.signal });
    exec('10');
    run.abort();
    finish(client.open());
    expect((await aborted).exit).toEqual(unknownExit.ended);
    await later(0);
    expect(client.commands.slice(8)).toEqual(['10']);
  });

  it('closes with all its commands without waiting for the node', async () => {
    const { client, socket, remote, exec, exits, results } = connected();
    for (let at = 1; at <= 9; at += 1) exec(`${at}`);
    remote.close();
    exec('after');
    await later(0);
    expect(results[9]).toEqual({
      exit: unknownExit.closed,
      stdout: Buffer.alloc(0),
      stderr: Buffer.alloc(0),
      isTruncated: false,
      sentAtEpochMs: 5_000,
      receivedAtEpochMs: 5_000,
    });
    expect(await exits()).toEqual(Array(10).fill(unknownExit.closed.reason));
    expect([client.commands.length, client.asked, socket.asked]).toEqual([8, ['end'], ['unref']]);
    await later(999);
    expect(socket.asked).toEqual(['unref']);
    await later(1);
    expect(socket.asked).toEqual(['unref', 'destroy']);
  });

  it('keeps the reason why it was lost', async () => {
    for (const [error, why] of [
      [new Error('read ECONNRESET'), 'read ECONNRESET'],
      [undefined, 'the node closed the connection'],
    ] as const) {
      const { client, remote, exec, exits } = connected();
      exec('1');
      if (error !== undefined) client.emit('error', error);
      client.emit('close');
      remote.close();
      exec('2');
      expect(await exits()).toEqual(Array(2).fill(unknownExit.dropped(why).reason));
    }
  });

  it('is dropped if the node sends far more data than requested', async () => {
    const flooded = connected();
    flooded.exec('1');
    flooded.client.open().emit('data', Buffer.alloc(10));
    flooded.receive(32 * mebibyte + 640);
    expect(flooded.socket.asked).toEqual([]);
    flooded.receive(32 * mebibyte + 641);
    flooded.receive(32 * mebibyte + 642);
    expect(flooded.socket.asked).toEqual(['destroy']);
    const { reason } = unknownExit.dropped('the node keeps sending unrequested data');
    expect(await flooded.exits()).toEqual([reason]);
  });

  it('is dropped if unfinished commands block every channel while another waits', async () => {
    const { client, socket, exec, exits } = connected();
    for (let at = 1; at <= 8; at += 1) exec(`${at}`, at === 8 ? 200 : 100);
    const channels = Array.from({ length: 8 }, () => client.open());
    await later(100);
    expect(socket.asked).toEqual([]);
    // One of the commands finishes after all, and another one gets its channel.
    channels[0]?.finish();
    exec('9', 50);
    client.open();
    await later(50);
    expect(socket.asked).toEqual([]);
    exec('waits', 60_000);
    await later(50);
    expect(socket.asked).toEqual(['destroy']);
    const { reason } = unknownExit.dropped('all channels are blocked by commands that do not finish');
    expect((await exits()).at(-1)).toBe(reason);
  });
});

describe('an SSH connection on a half-closed socket', () => {
  it('returns an unknown exit without throwing, and frees the channel', async () => {
    const socket = new FakeSocket() as unknown as Socket;
    const halfClosed = new SshRemote(new ssh2.Client(), socket, {
      target: { label: 'studio-1', rootPrefix: '' },
      connectMs: 1,
    });
    for (let at = 1; at <= 9; at += 1) {
      const { exit } = await halfClosed.exec('true', limits);
      expect(diagnoseExit('studio-1', exit)?.code).toBe('ssh/dropped');
      expect(exit).toMatchObject({ reason: expect.stringContaining('(Not connected)') });
    }
  });
});

describe('a refused channel', () => {
  it('fails its command if no command has run yet', async () => {
    const { client, exec, exits } = connected();
    exec('1');
    client.refuse(1);
    expect(await exits()).toEqual([unknownExit.noChannel.reason]);
    exec('2');
    expect(client.commands).toEqual(['1', '2']);
  });

  it('is requested again after growing pauses if a command has run, then fails', async () => {
    const { client, exec, exits } = connected();
    exec('1');
    finish(client.open());
    expect(await exits()).toEqual(['exited']);
    exec('2');
    const pauses = [20, 40, 80, 160, 320, 640];
    for (const [at, pause] of pauses.entries()) {
      client.refuse(1);
      await later(pause - 1);
      expect(client.commands).toHaveLength(at + 2);
      await later(1);
      expect(client.commands).toHaveLength(at + 3);
    }
    client.refuse(1);
    expect(await exits()).toEqual([unknownExit.noChannel.reason]);
    // A running command resets the count.
    exec('3');
    finish(client.open());
    exec('4');
    client.refuse(1);
    await later(20);
    expect(client.commands.slice(-2)).toEqual(['4', '4']);
  });

  it('lowers the number of parallel commands, then allows one more after each pause', async () => {
    const { client, exec } = connected();
    for (let at = 1; at <= 3; at += 1) exec(`${at}`);
    for (let at = 1; at <= 2; at += 1) client.open();
    client.refuse(1);
    for (let at = 4; at <= 12; at += 1) exec(`${at}`);
    expect(client.commands).toHaveLength(3);
    await later(20);
    // The refused command comes first.
    expect(client.commands.slice(3)).toEqual(['3']);
    for (let more = 1; more <= 5; more += 1) {
      await later(999);
      expect(client.commands).toHaveLength(3 + more);
      await later(1);
      expect(client.commands).toHaveLength(4 + more);
    }
    await later(60_000);
    expect(client.commands.at(-1)).toBe('8');
  });

  it('is not requested again on a lost connection', async () => {
    const { client, exec, exits } = connected();
    for (let at = 1; at <= 2; at += 1) exec(`${at}`);
    client.open();
    client.refuse(1);
    client.emit('close');
    await later(60_000);
    expect(client.commands).toEqual(['1', '2']);
    expect(await exits()).toHaveLength(2);
  });
});
