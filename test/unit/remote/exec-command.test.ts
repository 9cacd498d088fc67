import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ExecLimits, type UnknownExit, unknownExit } from '../../../src/remote/remote.ts';
import { type CommandHooks, createRunningCommand } from '../../../src/remote/ssh-remote.ts';
import { FakeClient } from './fake-client.ts';

/** Starts a command and records its hook calls. `seen` returns its result, or undefined while it has none. */
function start(more: Partial<ExecLimits> = {}) {
  const client = new FakeClient();
  const calls: unknown[] = [];
  const hooks: CommandHooks = {
    received: (bytes) => calls.push(bytes),
    closed: (isRefused) => calls.push(isRefused ? 'refused' : 'closed'),
  };
  const running = createRunningCommand({ name: 'test', deadlineMs: 1_000, maxBytes: 5, ...more }, hooks);
  client.real.exec('uname', running.answered);
  let result: unknown;
  void running.result.then(({ exit, stdout, stderr, isTruncated, ...times }) => {
    const [out, err] = [stdout, stderr].map((bytes) => Buffer.from(bytes).toString());
    result = { exit, out, err, isTruncated, ...times };
  });
  const seen = async () => {
    await vi.advanceTimersByTimeAsync(0);
    return result;
  };
  return { client, calls, seen, running };
}

function result(exit: unknown, out = '', err = '', more: object = {}) {
  return { exit, out, err, isTruncated: false, sentAtEpochMs: 5_000, receivedAtEpochMs: 5_000, ...more };
}
const lost: UnknownExit = unknownExit.dropped('reset');

beforeEach(() => void vi.useFakeTimers({ now: 5_000 }));
afterEach(() => void vi.useRealTimers());

describe('a remote command', () => {
  it('returns all output and its exit once both streams are closed', async () => {
    const pieces: string[] = [];
    const { client, calls, seen } = start({ onOutput: (stream, piece) => pieces.push(`${stream} ${piece}`) });
    expect(client.commands).toEqual(['uname']);
    const channel = client.open();
    channel.emit('data', Buffer.from('abc'));
    channel.stderr.emit('data', Buffer.from('de'));
    channel.stderr.emit('data', Buffer.from(''));
    channel.emit('exit', 3);
    channel.emit('error', new Error('is no matter'));
    vi.advanceTimersByTime(7);
    channel.emit('end');
    channel.emit('close');
    expect([await seen(), calls]).toEqual([undefined, [3, 2, 0]]);
    channel.stderr.emit('close');
    expect(await seen()).toEqual(result({ kind: 'exited', code: 3 }, 'abc', 'de', { receivedAtEpochMs: 5_007 }));
    expect(calls).toEqual([3, 2, 0, 'closed']);
    expect(pieces).toEqual(['stdout abc', 'stderr de']);
    expect(channel.asked).toEqual(['end']);
    vi.advanceTimersByTime(5_000);
    expect(calls).toHaveLength(4);
  });

  it.each([
    [[0], { kind: 'exited', code: 0 }],
    [[null, 'SIGKILL'], { kind: 'signalled', signal: 'KILL' }],
    [[null], { kind: 'signalled', signal: 'unknown' }],
    [undefined, unknownExit.noCode],
  ])('returns the exit for the channel event %j', async (exit, known) => {
    const { client, seen } = start();
    const channel = client.open();
    if (exit !== undefined) channel.emit('exit', ...exit);
    channel.finish();
    expect(await seen()).toEqual(result(known));
  });

  it('is stopped when it prints too much, and ignores later output', async () => {
    const pieces: string[] = [];
    const { client, calls, seen, running } = start({ onOutput: (_stream, piece) => pieces.push(`${piece}`) });
    const channel = client.open();
    channel.emit('data', Buffer.from('abc'));
    channel.stderr.emit('data', Buffer.from('de'));
    expect(await seen()).toBeUndefined();
    channel.stderr.emit('data', Buffer.from('f'));
    expect(await seen()).toEqual(result(unknownExit.tooLong(5), 'abc', 'de', { isTruncated: true }));
    channel.emit('data', Buffer.from('ghi'));
    expect([calls, channel.asked, pieces]).toEqual([
      [3, 2, 1],
      ['end', 'close'],
      ['abc', 'de'],
    ]);
    expect(running.isAbandoned()).toBe(true);
    channel.finish();
    expect(calls).toEqual([3, 2, 1, 'closed']);
  });

  it('is abandoned at its deadline, with or without a channel', async () => {
    const { client, calls, seen, running } = start();
    const channel = client.open();
    vi.advanceTimersByTime(900);
    channel.emit('data', Buffer.from('a'));
    vi.advanceTimersByTime(99);
    expect(await seen()).toBeUndefined();
    vi.advanceTimersByTime(1);
    const late = { receivedAtEpochMs: 6_000 };
    expect(await seen()).toEqual(result(unknownExit.late(1_000), 'a', '', late));
    expect([calls, running.isAbandoned(), channel.asked]).toEqual([[1], true, ['end', 'close']]);
    const waiting = start();
    vi.advanceTimersByTime(1_000);
    expect(await waiting.seen()).toMatchObject({ exit: unknownExit.late(1_000) });
    expect([waiting.client.open().asked, waiting.running.isAbandoned()]).toEqual([['close'], true]);
  });

  it('restarts an idle deadline with each byte, and accepts very long deadlines', async () => {
    const { client, seen } = start({ isDeadlineIdle: true });
    const channel = client.open();
    vi.advanceTimersByTime(900);
    channel.emit('data', Buffer.from('a'));
    vi.advanceTimersByTime(999);
    expect(await seen()).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(await seen()).toMatchObject({ exit: unknownExit.late(1_000) });
    const long = start({ deadlineMs: 2 ** 40 });
    vi.advanceTimersByTime(60_000);
    expect(await long.seen()).toBeUndefined();
  });

  it('is stopped by its abort signal, even before it has a channel', async () => {
    const run = new AbortController();
    const { client, seen, running } = start({ signal: run.signal });
    const waiting = start({ signal: run.signal });
    const channel = client.open();
    run.abort();
    expect(await seen()).toEqual(result(unknownExit.ended));
    expect([running.isAbandoned(), channel.asked]).toEqual([true, ['end', 'signal TERM', 'close']]);
    expect(await waiting.seen()).toEqual(result(unknownExit.ended));
    expect(waiting.client.open().asked).toEqual(['signal TERM', 'close']);
    const over = new AbortController();
    const done = start({ signal: over.signal });
    done.client.open().finish();
    over.abort();
    expect(done.calls).toEqual(['closed']);
  });

  it('is reported as not run if the node opens no channel', async () => {
    const refused = start();
    vi.advanceTimersByTime(500);
    refused.client.refuse(1);
    const times = { sentAtEpochMs: 5_000, receivedAtEpochMs: 5_500 };
    expect(await refused.seen()).toEqual(result(unknownExit.noChannel, '', '', times));
    vi.advanceTimersByTime(5_000);
    expect([refused.calls, refused.running.isAbandoned()]).toEqual([['refused'], false]);
    const other = start();
    other.client.refuse();
    expect(await other.seen()).toMatchObject({ exit: unknownExit.noChannel });
    expect(other.calls).toEqual(['closed']);
    const late = start();
    vi.advanceTimersByTime(1_000);
    late.client.refuse(1);
    expect(await late.seen()).toMatchObject({ exit: unknownExit.late(1_000) });
    expect(late.calls).toEqual(['closed']);
  });

  it('keeps its exit only if the connection is lost after its last byte', async () => {
    for (const [events, exit] of [
      [['exit', 'end', 'stderr end'], { kind: 'exited', code: 3 }],
      [['exit', 'end'], lost],
      [['end', 'stderr end'], lost],
      [['exit'], lost],
    ] as const) {
      const { client, seen, running } = start();
      const channel = client.open();
      if (events.includes('exit' as never)) channel.emit('exit', 3);
      if (events.includes('end' as never)) channel.emit('end');
      if (events.includes('stderr end' as never)) channel.stderr.emit('end');
      running.lose(lost);
      expect(await seen()).toEqual(result(exit));
    }
  });

  it('is abandoned when its input fails', async () => {
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('one');
      throw new Error('unreadable');
    };
    const { client, seen, running } = start({ stdin: failing() });
    const channel = client.open();
    await vi.advanceTimersByTimeAsync(1);
    expect(await seen()).toMatchObject({ exit: unknownExit.noInput });
    expect([running.isAbandoned(), channel.asked]).toEqual([true, ['write one', 'close']]);
  });
});
