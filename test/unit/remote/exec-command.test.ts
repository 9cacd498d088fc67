import ssh2 from 'ssh2';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  diagnoseExit,
  type ExecLimits,
  type ExecResult,
  type UnknownExit,
  unknownExit,
} from '../../../src/remote/remote.ts';
import { type CommandHooks, startCommand } from '../../../src/remote/ssh-remote.ts';
import { FakeClient } from './fake-client.ts';

/** Starts a command and records its hook calls and its result. */
function start(more: Partial<ExecLimits> = {}, isAskedAgain = false) {
  const client = new FakeClient();
  const told: unknown[] = [];
  const hooks: CommandHooks = {
    released: () => told.push('released'),
    refused: () => {
      told.push('refused');
      return isAskedAgain;
    },
    abandoned: () => told.push('abandoned'),
    received: (bytes) => told.push(bytes),
  };
  const seen: { result?: unknown } = {};
  const resolve = ({ exit, stdout, stderr, isTruncated, ...times }: ExecResult): void => {
    expect('result' in seen).toBe(false);
    const [out, err] = [stdout, stderr].map((bytes) => Buffer.from(bytes).toString());
    seen.result = { exit, out, err, isTruncated, ...times };
  };
  const limits = { name: 'test', deadlineMs: 1_000, maxBytes: 5, ...more };
  const running = startCommand(client.real, { command: 'uname', limits, resolve }, hooks);
  return { client, told, seen, running };
}

const result = (exit: unknown, out = '', err = '', more: object = {}) => ({
  exit,
  out,
  err,
  isTruncated: false,
  sentAtEpochMs: 5_000,
  receivedAtEpochMs: 5_000,
  ...more,
});
const lost: UnknownExit = unknownExit.dropped('reset');

beforeEach(() => {
  vi.useFakeTimers({ now: 5_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a command', () => {
  it('returns all output and its exit once both streams are closed', () => {
    const pieces: string[] = [];
    const { client, told, seen } = start({ onOutput: (stream, piece) => pieces.push(`${stream} ${piece}`) });
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
    expect([seen, told]).toEqual([{}, [3, 2, 0]]);
    channel.stderr.emit('close');
    expect(seen.result).toEqual(result({ kind: 'exited', code: 3 }, 'abc', 'de', { receivedAtEpochMs: 5_007 }));
    expect(told).toEqual([3, 2, 0, 'released']);
    expect(pieces).toEqual(['stdout abc', 'stderr de']);
    expect(channel.asked).toEqual(['end']);
    vi.advanceTimersByTime(5_000);
    expect(told).toHaveLength(4);
  });

  it.each([
    [[0], { kind: 'exited', code: 0 }],
    [[null, 'SIGKILL'], { kind: 'signalled', signal: 'KILL' }],
    [[null], { kind: 'signalled', signal: 'unknown' }],
    [undefined, unknownExit.noCode],
  ])('returns the exit for the channel event %j', (exit, known) => {
    const { client, seen } = start();
    const channel = client.open();
    if (exit !== undefined) channel.emit('exit', ...exit);
    channel.finish();
    expect(seen.result).toEqual(result(known));
  });

  it('is stopped when it prints too much, and ignores later output', () => {
    const pieces: string[] = [];
    const { client, told, seen } = start({ onOutput: (_stream, piece) => pieces.push(`${piece}`) });
    const channel = client.open();
    channel.emit('data', Buffer.from('abc'));
    channel.stderr.emit('data', Buffer.from('de'));
    expect(seen).toEqual({});
    channel.stderr.emit('data', Buffer.from('f'));
    expect(seen.result).toEqual(result(unknownExit.tooLong(5), 'abc', 'de', { isTruncated: true }));
    channel.emit('data', Buffer.from('ghi'));
    expect([told, channel.asked, pieces]).toEqual([
      [3, 2, 1, 'abandoned'],
      ['end', 'close'],
      ['abc', 'de'],
    ]);
    channel.finish();
    expect(told).toEqual([3, 2, 1, 'abandoned', 'released']);
  });

  it('is abandoned at its deadline, with or without a channel', () => {
    const { client, told, seen } = start();
    const channel = client.open();
    vi.advanceTimersByTime(900);
    channel.emit('data', Buffer.from('a'));
    vi.advanceTimersByTime(99);
    expect(seen).toEqual({});
    vi.advanceTimersByTime(1);
    const late = { receivedAtEpochMs: 6_000 };
    expect(seen.result).toEqual(result(unknownExit.late(1_000), 'a', '', late));
    expect([told, channel.asked]).toEqual([
      [1, 'abandoned'],
      ['end', 'close'],
    ]);
    const waiting = start();
    vi.advanceTimersByTime(1_000);
    expect(waiting.seen.result).toMatchObject({ exit: unknownExit.late(1_000) });
    expect([waiting.client.open().asked, waiting.told]).toEqual([['close'], ['abandoned']]);
  });

  it('restarts an idle deadline with each byte, and accepts very long deadlines', () => {
    const { client, seen } = start({ isDeadlineIdle: true });
    const channel = client.open();
    vi.advanceTimersByTime(900);
    channel.emit('data', Buffer.from('a'));
    vi.advanceTimersByTime(999);
    expect(seen).toEqual({});
    vi.advanceTimersByTime(1);
    expect(seen.result).toMatchObject({ exit: unknownExit.late(1_000) });
    const long = start({ deadlineMs: 2 ** 40 });
    vi.advanceTimersByTime(60_000);
    expect(long.seen).toEqual({});
  });

  it('is stopped by its abort signal, even before it has a channel', () => {
    const run = new AbortController();
    const { client, told, seen } = start({ signal: run.signal });
    const waiting = start({ signal: run.signal });
    const channel = client.open();
    run.abort();
    expect(seen.result).toEqual(result(unknownExit.ended));
    expect([told, channel.asked]).toEqual([['abandoned'], ['end', 'signal TERM', 'close']]);
    expect(waiting.seen.result).toEqual(result(unknownExit.ended));
    expect(waiting.client.open().asked).toEqual(['close']);
    const over = new AbortController();
    const done = start({ signal: over.signal });
    done.client.open().finish();
    over.abort();
    expect(done.told).toEqual(['released']);
  });

  it('is retried or reported as not run if the node opens no channel', () => {
    const again = start({}, true);
    again.client.refuse(1);
    vi.advanceTimersByTime(5_000);
    expect([again.seen, again.told]).toEqual([{}, ['refused', 'released']]);
    const never = start();
    never.client.refuse(1);
    expect(never.seen.result).toEqual(
      result(unknownExit.noChannel, '', '', { sentAtEpochMs: 10_000, receivedAtEpochMs: 10_000 }),
    );
    expect(never.told).toEqual(['refused', 'released']);
    const other = start({}, true);
    other.client.refuse();
    expect(other.seen.result).toMatchObject({ exit: unknownExit.noChannel });
    expect(other.told).toEqual(['released']);
    const late = start({}, true);
    vi.advanceTimersByTime(1_000);
    late.client.refuse(1);
    expect(late.told).toEqual(['abandoned', 'released']);
  });

  it('keeps its exit only if the connection is lost after its last byte', () => {
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
      expect(seen.result).toEqual(result(exit));
    }
  });

  it('is abandoned when its input fails', async () => {
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('one');
      throw new Error('unreadable');
    };
    const { client, told, seen } = start({ stdin: failing() });
    const channel = client.open();
    await vi.advanceTimersByTimeAsync(1);
    expect(seen.result).toMatchObject({ exit: unknownExit.noInput });
    expect([told, channel.asked]).toEqual([['abandoned'], ['write one', 'close']]);
  });
});

describe('a command on a half-closed connection', () => {
  it('returns an unknown exit without throwing, and releases its channel once', async () => {
    const told: string[] = [];
    const hooks: CommandHooks = {
      released: () => told.push('released'),
      refused: () => false,
      abandoned: () => told.push('abandoned'),
      received: () => told.push('received'),
    };
    const limits = { name: 'test', deadlineMs: 60_000, maxBytes: 10 };
    const result = await new Promise<ExecResult>((resolve) => {
      startCommand(new ssh2.Client(), { command: 'true', limits, resolve }, hooks);
    });
    expect(diagnoseExit('studio-1', result.exit)?.code).toBe('ssh/dropped');
    expect(result.exit).toMatchObject({ reason: expect.stringContaining('(Not connected)') });
    expect(told).toEqual(['released']);
  });
});
