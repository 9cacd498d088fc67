import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exitText } from '../../src/model/probe.ts';
import type { FaultExec } from '../sshd/fault-server.ts';
import { execLimits, textOf } from '../sshd/ssh-case.ts';
import { until } from '../until.ts';
import { makeFaultCase } from './fault-case.ts';

const ssh = makeFaultCase();
const piece = Buffer.alloc(256 * 1024, 'm');
const pieces = 64;

/** Answers with the SHA-256 of its input. */
function digestInput({ channel }: FaultExec): void {
  const hash = createHash('sha256');
  channel.on('data', (chunk: Buffer) => hash.update(chunk));
  channel.on('end', () => {
    channel.write(hash.digest('hex'));
    channel.exit(0);
    channel.end();
  });
}

async function* many(count: number, asked = { pieces: 0, isOver: false }): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < count; at += 1) {
      asked.pieces += 1;
      yield piece;
    }
  } finally {
    asked.isOver = true;
  }
}

describe('standard input sent in pieces', () => {
  it("arrives whole and in order, even beyond a channel's window", async () => {
    const { remote } = await ssh.connected({ onExec: digestInput });
    const { stdout, exit } = await remote.exec('sum', { ...execLimits, stdin: many(pieces) });
    const hash = createHash('sha256');
    for (let at = 0; at < pieces; at += 1) hash.update(piece);
    expect([textOf(stdout), exitText(exit)]).toEqual([hash.digest('hex'), 'exit 0']);
  });

  it('stops when its command ends early', async () => {
    const { remote } = await ssh.connected({
      onExec: ({ channel }) => {
        channel.exit(3);
        channel.close();
      },
    });
    const asked = { pieces: 0, isOver: false };
    const { exit } = await remote.exec('head', { ...execLimits, stdin: many(10_000, asked) });
    expect(exitText(exit)).toBe('exit 3');
    await until(() => asked.isOver);
    // The 2 MiB of a channel's window are 8 pieces.
    expect(asked.pieces).toBeLessThan(12);
  });

  it('leaves the exit unknown if it fails midway', async () => {
    const { remote } = await ssh.connected({ onExec: digestInput });
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield piece;
      throw new Error('the disk is gone');
    }
    const { exit } = await remote.exec('sum', { ...execLimits, stdin: broken() });
    expect(exitText(exit)).toContain('the input of the command could not be read completely');
  });
});

describe('a deadline that counts from the last byte', () => {
  const limits = (deadlineMs: number) => ({ ...execLimits, deadlineMs, isDeadlineIdle: true });

  it('does not stop a command that keeps printing', async () => {
    const events = new EventEmitter<{ exec: [FaultExec]; piece: [] }>();
    const { remote } = await ssh.connected({ onExec: (exec) => void events.emit('exec', exec) });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const begun = once(events, 'exec');
    const ended = remote.exec('slow', { ...limits(2_000), onOutput: () => void events.emit('piece') });
    const [{ channel }] = await begun;
    for (let at = 0; at < 8; at += 1) {
      const arrived = once(events, 'piece');
      channel.write('.');
      await arrived;
      vi.advanceTimersByTime(1_900);
    }
    channel.exit(0);
    channel.end();
    const { stdout, exit } = await ended;
    expect([textOf(stdout), exitText(exit)]).toEqual(['........', 'exit 0']);
  });

  it('ends a command with no output or input', async () => {
    const { remote } = await ssh.connected({ onExec: () => undefined });
    const { exit } = await remote.exec('silent', limits(400));
    expect(exit).toMatchObject({ kind: 'unknown', why: 'late' });
  });
});
