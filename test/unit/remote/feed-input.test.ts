import { EventEmitter } from 'node:events';
import type { ClientChannel } from 'ssh2';
import { describe, expect, it } from 'vitest';
import type { ExecLimits } from '../../../src/remote/remote.ts';
import { feedInput } from '../../../src/remote/ssh-remote.ts';

/** A channel; `room` lists for each write whether it has room for more. */
function makeChannel(room: readonly boolean[] = []) {
  const calls: unknown[] = [];
  const rooms = [...room];
  const channel = Object.assign(new EventEmitter(), {
    writable: true,
    write: (piece: Buffer) => {
      calls.push(piece.toString());
      return rooms.shift() ?? true;
    },
    end: (piece?: Buffer) => calls.push(['end', piece?.toString()]),
  });
  const feed = (input: ExecLimits['stdin']): void =>
    feedInput(channel as unknown as ClientChannel, input, {
      moved: () => calls.push('moved'),
      broken: () => calls.push('broken'),
    });
  return { channel, calls, feed };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(`before${texts.join('')}after`);
  let at = 6;
  for (const text of texts) {
    yield new Uint8Array(all.buffer, all.byteOffset + at, text.length);
    at += text.length;
  }
}

describe("a remote command's input", () => {
  it('is closed immediately or written whole', () => {
    const none = makeChannel();
    none.feed(undefined);
    expect(none.calls).toEqual([['end', undefined]]);
    const whole = makeChannel();
    whole.feed(new Uint8Array(Buffer.from('whole')));
    expect(whole.calls).toEqual([['end', 'whole']]);
  });

  it.each(['drain', 'close', 'error'])('waits for room until the event %s', async (event) => {
    const { channel, calls, feed } = makeChannel([true, false]);
    feed(pieces('one', 'two', 'three'));
    await turn();
    expect(calls).toEqual(['one', 'moved', 'two']);
    channel.emit(event);
    expect(channel.eventNames()).toEqual([]);
    await turn();
    expect(calls).toEqual(['one', 'moved', 'two', 'moved', 'three', 'moved', ['end', undefined]]);
    expect(channel.eventNames()).toEqual([]);
  });

  it('stops being read once the channel is closed', async () => {
    const { channel, calls, feed } = makeChannel([false]);
    feed(pieces('one', 'two'));
    await turn();
    channel.writable = false;
    channel.emit('close');
    await turn();
    expect(calls).toEqual(['one', 'moved']);
  });

  it('is broken if reading the pieces fails', async () => {
    const { calls, feed } = makeChannel();
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield* pieces('one');
      throw new Error('unreadable');
    };
    feed(failing());
    await turn();
    expect(calls).toEqual(['one', 'moved', 'broken']);
  });
});
