import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exitText } from '../../src/model/probe.ts';
import { type FaultExec, type FaultServer, type Faults, startFaultServer } from '../sshd/fault-server.ts';
import { execLimits, makeSshCase, textOf } from '../sshd/ssh-case.ts';

const ssh = makeSshCase('mesh');
const servers: FaultServer[] = [];

async function start(faults: Faults): Promise<FaultServer> {
  const server = await startFaultServer(ssh.host, faults);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => ssh.remove());

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

/** A channel's window in pieces, which the product may fill before the node reads anything. */
const windowPieces = (2 * 2 ** 20) / piece.length;

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
    const server = await start({ onExec: digestInput });
    const remote = await ssh.connect(server.port);
    const { stdout, exit } = await remote.exec('sum', { ...execLimits, stdin: many(pieces) });
    const hash = createHash('sha256');
    for (let at = 0; at < pieces; at += 1) hash.update(piece);
    expect([textOf(stdout), exitText(exit)]).toEqual([hash.digest('hex'), 'exit 0']);
    remote.close();
  });

  it('stops when its command ends early', async () => {
    const server = await start({
      onExec: ({ channel }) => {
        channel.exit(3);
        channel.close();
      },
    });
    const remote = await ssh.connect(server.port);
    const asked = { pieces: 0, isOver: false };
    const { exit } = await remote.exec('head', { ...execLimits, stdin: many(10_000, asked) });
    expect(exitText(exit)).toBe('exit 3');
    await expect.poll(() => asked.isOver).toBe(true);
    expect(asked.pieces).toBeLessThanOrEqual(windowPieces + 1);
    remote.close();
  });

  it('leaves the exit unknown if it fails midway', async () => {
    const server = await start({ onExec: digestInput });
    const remote = await ssh.connect(server.port);
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield piece;
      throw new Error('the disk is gone');
    }
    const { exit } = await remote.exec('sum', { ...execLimits, stdin: broken() });
    expect(exitText(exit)).toContain('the input of the command could not be read completely');
    remote.close();
  });
});

describe('a deadline that counts from the last byte', () => {
  const limits = (deadlineMs: number) => ({ ...execLimits, deadlineMs, isDeadlineIdle: true });
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('spares a command that prints now and then', async () => {
    let print = (): void => undefined;
    const server = await start({
      onExec: ({ channel }) => {
        let left = 8;
        print = () => {
          vi.advanceTimersByTime(1_500);
          left -= 1;
          if (left >= 0) channel.write('.');
          else {
            channel.exit(0);
            channel.end();
          }
        };
        print();
      },
    });
    const remote = await ssh.connect(server.port);
    const { stdout, exit } = await remote.exec('slow', { ...limits(2_000), onOutput: () => print() });
    expect([textOf(stdout), exitText(exit)]).toEqual(['........', 'exit 0']);
    remote.close();
  });

  it('ends a command with no output or input', async () => {
    const server = await start({ onExec: () => void vi.advanceTimersByTime(400) });
    const remote = await ssh.connect(server.port);
    const { exit } = await remote.exec('silent', limits(400));
    expect(exit).toMatchObject({ kind: 'unknown', why: 'late' });
    remote.close();
  });
});
