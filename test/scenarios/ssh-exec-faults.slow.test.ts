import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerChannel } from 'ssh2';
import { describe, expect, it, vi } from 'vitest';
import { nodeSubject } from '../../src/model/subject.ts';
import { diagnoseExit } from '../../src/remote/remote.ts';
import type { FaultExec, Faults } from '../sshd/fault-server.ts';
import { execLimits, textOf } from '../sshd/ssh-case.ts';
import { makeFaultCase } from './fault-case.ts';

const ssh = makeFaultCase();
/** Answers every command but `hang`. */
function hangs({ channel, command }: FaultExec): void {
  if (command === 'hang') return;
  channel.exit(0);
  channel.end();
}

describe("a command's exit", () => {
  it.each<readonly [string, Faults, string, string]>([
    ['the connection is cut after login', { onReady: (socket) => socket.destroy() }, 'ssh/dropped', ''],
    ['the connection is cut after the channel opened', { onExec: ({ socket }) => socket.destroy() }, 'ssh/dropped', ''],
    [
      'the connection is cut during the output, which is kept',
      { onExec: ({ channel, socket }) => channel.write('half an ans', () => setImmediate(() => socket.destroy())) },
      'ssh/dropped',
      'half an ans',
    ],
    [
      'the code arrived but the output did not end',
      {
        onExec: ({ channel, socket }) => {
          channel.write('half');
          channel.exit(0);
          setImmediate(() => socket.destroySoon());
        },
      },
      'ssh/dropped',
      'half',
    ],
    ['the channel closes without a code', { onExec: ({ channel }) => channel.close() }, 'ssh/exit-unknown', ''],
  ])('is unknown if %s', async (_when, faults, code, output) => {
    const { remote } = await ssh.connected(faults);
    const { exit, stdout } = await remote.exec('true', execLimits);
    expect(diagnoseExit('studio-1', exit)).toMatchObject({ code, subject: nodeSubject('studio-1') });
    expect([exit.kind, textOf(stdout)]).toEqual(['unknown', output]);
  });

  it('is known if the exit code and the end of the output arrived before the connection dropped', async () => {
    const { remote } = await ssh.connected({
      onExec: ({ channel, socket }) => {
        channel.write('whole');
        channel.exit(3);
        channel.eof();
        setImmediate(() => socket.destroySoon());
      },
    });
    const result = await remote.exec('true', execLimits);
    expect(result.exit).toEqual({ kind: 'exited', code: 3 });
    expect(textOf(result.stdout)).toBe('whole');
  });

  it('is unknown if its caller cancels, and the connection serves the next command', async () => {
    const { remote } = await ssh.connected({ onExec: hangs });
    const over = new AbortController();
    const hanging = remote.exec('hang', { ...execLimits, signal: over.signal });
    expect((await remote.exec('true', execLimits)).exit).toEqual({ kind: 'exited', code: 0 });
    over.abort();
    expect((await hanging).exit).toMatchObject({ kind: 'unknown', why: 'closed' });
    expect((await remote.exec('hang', { ...execLimits, signal: over.signal })).exit.kind).toBe('unknown');
    expect((await remote.exec('true', execLimits)).exit).toEqual({ kind: 'exited', code: 0 });
  });

  it('is the signal that killed the command', async () => {
    const { remote } = await ssh.connected({
      onExec: ({ channel }) => {
        channel.exit('KILL');
        channel.end();
      },
    });
    expect((await remote.exec('true', execLimits)).exit).toEqual({ kind: 'signalled', signal: 'KILL' });
  });

  it('is unknown if the node falls silent for three keepalives', async () => {
    const { remote } = await ssh.connected({ onExec: ({ socket }) => socket.pause() }, { keepaliveMs: 50 });
    const { exit } = await remote.exec('true', execLimits);
    expect(diagnoseExit('studio-1', exit)?.code).toBe('ssh/dropped');
  });

  it('is unknown at most 20 seconds after the node fell silent', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const server = await ssh.start({
        onExec: ({ socket }) => {
          socket.pause();
          vi.advanceTimersByTime(20_000);
        },
      });
      const remote = await ssh.connect(server.port);
      const { exit } = await remote.exec('true', { ...execLimits, deadlineMs: 100_000 });
      expect(diagnoseExit('studio-1', exit)?.code).toBe('ssh/dropped');
    } finally {
      vi.useRealTimers();
    }
  });

  it('is unknown immediately, even for queued commands, when this side closes the connection', async () => {
    const { remote } = await ssh.connected({ onExec: () => undefined });
    const all = Array.from({ length: 12 }, () => remote.exec('sleep', execLimits));
    await sleep(20);
    const exits = await Promise.all(all);
    expect(new Set(exits.map(({ exit }) => exit.kind))).toEqual(new Set(['unknown']));
    expect((await remote.exec('true', execLimits)).exit.kind).toBe('unknown');
  });
});

describe("a command's limits", () => {
  it('end the command at its deadline, and the connection serves the next one', async () => {
    const { remote } = await ssh.connected({ onExec: hangs });
    const { exit } = await remote.exec('hang', { ...execLimits, deadlineMs: 100 });
    expect(diagnoseExit('studio-1', exit)?.code).toBe('ssh/timed-out');
    expect((await remote.exec('true', execLimits)).exit).toEqual({ kind: 'exited', code: 0 });
  });

  it('allow exactly the permitted number of output bytes, and truncate longer output', async () => {
    const { remote } = await ssh.connected({
      onExec: ({ channel, command }) => {
        channel.write('x'.repeat(60));
        channel.stderr.write('y'.repeat(Number(command) - 60));
        channel.exit(0);
        channel.end();
      },
    });
    const whole = await remote.exec('100', { ...execLimits, maxBytes: 100 });
    expect(whole).toMatchObject({ isTruncated: false, exit: { kind: 'exited', code: 0 } });
    const cut = await remote.exec('101', { ...execLimits, maxBytes: 100 });
    expect(cut).toMatchObject({ isTruncated: true, exit: { kind: 'unknown' } });
    expect(cut.stdout.length + cut.stderr.length).toBe(100);
  });

  it('end the connection of a node that keeps sending after its channel closed', async () => {
    const chunk = Buffer.alloc(32_000, 'x');
    const { remote } = await ssh.connected({
      onExec: ({ channel, socket, connection, command }) => {
        if (command !== 'flood') return;
        // Bypasses the library and ignores the window and the close, like a hostile node.
        const protocol = Object(connection)._protocol;
        const flood = (): void => {
          if (socket.destroyed) return;
          protocol.channelData(Object(channel).outgoing.id, chunk);
          if (socket.writableLength > 1_000_000) socket.once('drain', flood);
          else setImmediate(flood);
        };
        flood();
      },
    });
    const flooded = await remote.exec('flood', { ...execLimits, maxBytes: 10_000 });
    expect(flooded).toMatchObject({ isTruncated: true, exit: { kind: 'unknown' } });
    const { exit } = await remote.exec('wait', execLimits);
    expect(exit).toEqual({
      kind: 'unknown',
      why: 'dropped',
      reason: expect.stringContaining('the node keeps sending unrequested data'),
    });
  });

  it('open at most eight channels and queue the rest', async () => {
    let open = 0;
    let most = 0;
    const held: ServerChannel[] = [];
    const endAll = (): void => {
      for (const channel of held.splice(0)) {
        open -= 1;
        channel.exit(0);
        channel.end();
      }
    };
    const server = await ssh.start({
      onExec: ({ channel }) => {
        open += 1;
        most = Math.max(most, open);
        held.push(channel);
        // Eight commands wait until a ninth would have arrived. The last six have no successors.
        if (open === 8 || server.commands.length === 30) setTimeout(endAll, 50);
      },
    });
    const remote = await ssh.connect(server.port);
    const all = await Promise.all(Array.from({ length: 30 }, () => remote.exec('true', execLimits)));
    expect(all.every(({ exit }) => exit.kind === 'exited')).toBe(true);
    expect(server.commands).toHaveLength(30);
    expect(most).toBe(8);
  });

  it('end the connection if commands that outlived their deadline occupy every channel', async () => {
    const { remote } = await ssh.connected({
      onExec: ({ channel }) => Object.assign(channel, { close: () => undefined, end: () => undefined }),
    });
    const limits = { ...execLimits, deadlineMs: 100 };
    const stuck = await Promise.all(Array.from({ length: 9 }, () => remote.exec('hang', limits)));
    expect(stuck.every(({ exit }) => exit.kind === 'unknown')).toBe(true);
    expect((await remote.exec('true', execLimits)).exit).toMatchObject({ kind: 'unknown' });
  });

  /** A server that opens the first channel, refuses the next ones, and opens all later ones. */
  async function refusing(count: number) {
    let asked = 0;
    const isOpened = (): boolean => {
      asked += 1;
      return asked === 1 || asked > count + 1;
    };
    const server = await ssh.start({ isOpened });
    return { server, remote: await ssh.connect(server.port), asked: () => asked };
  }

  it('repeat a refused command while the node still counts the previous one, and run it once', async () => {
    const { server, remote, asked } = await refusing(3);
    const first = await remote.exec('first', execLimits);
    const others = await Promise.all(['second', 'third'].map((one) => remote.exec(one, execLimits)));
    expect([first, ...others].map(({ exit }) => exit)).toEqual(Array(3).fill({ kind: 'exited', code: 0 }));
    expect([[...server.commands].sort(), asked()]).toEqual([['first', 'second', 'third'], 6]);
  });

  it('give up after endless refusals if nothing else is running', async () => {
    const { server, remote, asked } = await refusing(1_000);
    await remote.exec('first', execLimits);
    const { exit } = await remote.exec('second', execLimits);
    expect(exit).toMatchObject({ kind: 'unknown', why: 'no-channel' });
    expect([server.commands, asked()]).toEqual([['first'], 8]);
  });
});
