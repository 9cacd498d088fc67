import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  type NodeTarget,
  openSession,
  type Session,
  type SessionAnswer,
  type SessionOptions,
} from '../../../../src/apply/reach/session.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { exitText } from '../../../../src/model/probe.ts';
import { skipSleeps } from '../../../fake-clock.ts';
import { type FaultServer, type Faults, startFaultServer } from '../../../sshd/fault-server.ts';
import { execLimits, makeSshCase, textOf } from '../../../sshd/ssh-case.ts';

const sshCase = makeSshCase('mesh');
const node = nodeName('studio-1');
const open: { readonly close: () => void }[] = [];

let server: FaultServer | undefined;
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  await server?.stop();
  server = undefined;
});
afterAll(() => sshCase.remove());

async function wayTo(faults: Faults): Promise<NodeTarget> {
  server = await startFaultServer(sshCase.host, faults);
  const target = sshCase.target(server.port, { rootPrefix: '/tmp/root-of-it' });
  return { node, way: { kind: 'way', target, trust: sshCase.trust(server.port) } };
}

async function sessionTo(faults: Faults, options: Partial<SessionOptions> = {}): Promise<Session> {
  const session = openSession(await wayTo(faults), { deadlineMs: 20_000, retryMs: 1, ...options });
  open.push(session);
  return session;
}

const answering: Faults = {
  onExec: ({ channel, command }) => {
    channel.write(`ran ${command}`);
    channel.exit(0);
    channel.end();
  },
};

const ask = (session: Session, command: string): Promise<SessionAnswer> =>
  session.ask(() => ({ command, ...execLimits }));

const inWords = (answer: SessionAnswer): string =>
  answer.kind === 'ended'
    ? `${exitText(answer.result.exit).split(':')[0]} ${textOf(answer.result.stdout)}`.trim()
    : answer.diagnostics.map(({ code }) => code).join();

describe('an SSH session', () => {
  it('connects once, with its first command', async () => {
    const session = await sessionTo(answering);
    expect(server?.counts.connections).toBe(0);
    const answers = await Promise.all(['one', 'two', 'three'].map((word) => ask(session, word)));
    expect(answers.map(inWords)).toEqual(['exit 0 ran one', 'exit 0 ran two', 'exit 0 ran three']);
    expect(server?.counts.connections).toBe(1);
  });

  it('reports its connection, and each command before it is sent and after it ends', async () => {
    const events: unknown[] = [];
    const session = await sessionTo(answering, {
      onRemote: (event) => void events.push([event, server?.commands.length]),
    });
    await session.ask((rootPrefix) => ({ command: `ls ${rootPrefix}`, script: 'true', ...execLimits }));
    const name = 'test';
    const fingerprint = expect.stringMatching(/^SHA256:/);
    expect(events).toMatchObject([
      [{ kind: 'connecting', address: expect.stringMatching(/@127\.0\.0\.1:\d+$/) }, 0],
      [{ kind: 'host-key', node, verdict: 'accepted', fingerprint }, 0],
      [{ kind: 'connected', node }, 0],
      [{ kind: 'sent', node, name, command: 'ls /tmp/root-of-it', script: 'true' }, 0],
      [{ kind: 'answered', node, name, exit: { kind: 'exited', code: 0 }, ms: expect.any(Number) }, 1],
    ]);
  });

  it('does not repeat an aborted command, and reconnects for the next command', async () => {
    let asked = 0;
    const again: number[] = [];
    const faults: Faults = {
      onExec: (exec) => {
        asked += 1;
        if (asked === 1) exec.socket.destroy();
        else answering.onExec?.(exec);
      },
    };
    const session = await sessionTo(faults, { onReconnect: (_, attempt) => void again.push(attempt) });
    expect(inWords(await ask(session, 'one'))).toBe('exit unknown');
    expect(inWords(await ask(session, 'two'))).toBe('exit 0 ran two');
    expect([server?.commands, server?.counts.connections, again]).toEqual([['one', 'two'], 2, [1]]);
  });

  it('abandons a node after three dropped connections in a row', async () => {
    const sleptMs = skipSleeps();
    const session = await sessionTo({ onExec: ({ socket }) => socket.destroy() }, { retryMs: 500 });
    const answers: string[] = [];
    for (const word of ['one', 'two', 'three', 'four']) answers.push(inWords(await ask(session, word)));
    expect(answers).toEqual(['exit unknown', 'exit unknown', 'exit unknown', 'ssh/dropped']);
    expect([session.isLost(), server?.counts.connections, sleptMs]).toEqual([true, 3, [500, 1_000]]);
  });

  it('resets the count of dropped connections after a finished command', async () => {
    let asked = 0;
    const session = await sessionTo({
      onExec: (exec) => {
        asked += 1;
        if (asked % 2 === 1) exec.socket.destroy();
        else answering.onExec?.(exec);
      },
    });
    for (let at = 0; at < 8; at += 1) await ask(session, 'one');
    expect([session.isLost(), server?.counts.connections]).toEqual([false, 5]);
  });

  it('opens a new connection after forget', async () => {
    const session = await sessionTo(answering);
    await ask(session, 'one');
    session.forget();
    expect(inWords(await ask(session, 'two'))).toBe('exit 0 ran two');
    expect(server?.counts.connections).toBe(2);
  });

  it('sends nothing after it is closed', async () => {
    const session = await sessionTo(answering);
    await ask(session, 'one');
    session.close();
    expect(inWords(await ask(session, 'two'))).toBe('run/interrupted');
    expect(server?.commands).toEqual(['one']);
  });

  it('reports why the node has no SSH target', async () => {
    const problem = diagnose('ssh/proxyjump', { detail: 'behind bastion' });
    const session = openSession(
      { node, way: { kind: 'no-way', diagnostics: [problem] } },
      { deadlineMs: 1, retryMs: 1 },
    );
    expect(inWords(await ask(session, 'one'))).toBe('ssh/proxyjump');
  });
});
