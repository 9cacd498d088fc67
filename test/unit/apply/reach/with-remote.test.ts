import { getEventListeners } from 'node:events';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type NodeTarget, type Reached, withRemote } from '../../../../src/apply/reach/session.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { onSent } from '../../../on-sent.ts';
import { type FaultServer, type Faults, startFaultServer } from '../../../sshd/fault-server.ts';
import { execLimits, makeSshCase, textOf } from '../../../sshd/ssh-case.ts';
import { leakWarnings } from '../../remote/leak-warnings.ts';

const sshCase = makeSshCase('mesh');
const node = nodeName('studio-1');
const deadlineMs = 60_000;

let server: FaultServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});
afterAll(() => sshCase.remove());

async function wayTo(faults: Faults): Promise<NodeTarget> {
  server = await startFaultServer(sshCase.host, faults);
  const target = sshCase.target(server.port);
  return { node, way: { kind: 'way', target, trust: sshCase.trust(server.port) } };
}

const codes = (reached: Reached<unknown>): readonly string[] =>
  reached.kind === 'reached' ? [] : reached.diagnostics.map((one) => one.code);

const answering: Faults = {
  onExec: ({ channel, command }) => {
    channel.write(`ran ${command}`);
    channel.exit(0);
    channel.end();
  },
};

describe('withRemote', () => {
  it('returns the result, reports the command before sending, and closes the connection', async () => {
    const way = await wayTo(answering);
    const sent: string[] = [];
    const { signal } = new AbortController();
    const onRemote = onSent((command, _script, name) => {
      expect(server?.commands).toEqual([]);
      sent.push(`${name}: ${command}`);
    });
    const reached = await withRemote(way, { deadlineMs, signal, onRemote }, async (remote) =>
      textOf((await remote.exec('uptime', execLimits)).stdout),
    );
    expect(reached).toEqual({ kind: 'reached', value: 'ran uptime' });
    expect(sent).toEqual(['studio-1: uptime']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('shares one abort signal among many nodes without a leak warning from Node', async () => {
    const way = await wayTo(answering);
    const signal = AbortSignal.any([new AbortController().signal]);
    const most: number[] = [];
    const use = (): Promise<Reached<void>> =>
      withRemote(way, { deadlineMs, signal }, async (remote) => {
        most.push(getEventListeners(signal, 'abort').length);
        await expect.poll(() => most.length).toBe(12);
        await Promise.all([1, 2, 3].map(() => remote.exec('uptime', { ...execLimits, signal })));
      });
    const warnings = await leakWarnings(() => Promise.all(Array.from({ length: 12 }, use)));
    expect([Math.max(...most), warnings, getEventListeners(signal, 'abort')]).toEqual([12, [], []]);
  });

  it('returns the diagnostics for a node without an SSH target', async () => {
    const problem = diagnose('ssh/proxyjump', { detail: 'behind bastion' });
    const body = () => Promise.reject(new Error('the node was queried'));
    const reached = await withRemote({ node, way: { kind: 'no-way', diagnostics: [problem] } }, { deadlineMs }, body);
    expect(reached).toEqual({ kind: 'unreached', diagnostics: [problem] });
  });

  it('returns an expected failure as diagnostics and throws other errors', async () => {
    const way = await wayTo(answering);
    const expected = new FleetError([diagnose('ssh/dropped', { detail: 'gone' })]);
    expect(codes(await withRemote(way, { deadlineMs }, () => Promise.reject(expected)))).toEqual(['ssh/dropped']);
    await expect(withRemote(way, { deadlineMs }, () => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
  });
});

describe('withRemote in an interrupted run', () => {
  it('does nothing if already aborted', async () => {
    const way = await wayTo(answering);
    let asked = 0;
    const reached = await withRemote(way, { deadlineMs, signal: AbortSignal.abort() }, async () => {
      asked += 1;
    });
    expect([codes(reached), asked, server?.commands]).toEqual([['run/interrupted'], 0, []]);
  });

  it('closes the socket immediately while connecting', async () => {
    const controller = new AbortController();
    let closed = 0;
    const way = await wayTo({
      onSocket: (socket) => {
        socket.once('close', () => {
          closed += 1;
        });
        socket.resume();
        controller.abort();
      },
    });
    const reached = await withRemote(way, { deadlineMs, signal: controller.signal }, () => Promise.resolve('never'));
    expect(codes(reached)).toEqual(['run/interrupted']);
    await expect.poll(() => closed).toBe(1);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('closes the connection of a running command, whose exit is unknown', async () => {
    const controller = new AbortController();
    const way = await wayTo({ onExec: () => controller.abort() });
    const reached = await withRemote(way, { deadlineMs, signal: controller.signal }, (remote) =>
      remote.exec('sleep', { name: 'test', deadlineMs, maxBytes: 1_000 }),
    );
    expect(reached).toMatchObject({ kind: 'reached', value: { exit: { kind: 'unknown' } } });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('keeps the result of a node that had already finished', async () => {
    const way = await wayTo(answering);
    const controller = new AbortController();
    const reached = await withRemote(way, { deadlineMs, signal: controller.signal }, () => Promise.resolve('seen'));
    controller.abort();
    expect(reached).toEqual({ kind: 'reached', value: 'seen' });
  });
});
