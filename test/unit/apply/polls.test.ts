import { describe, expect, it } from 'vitest';
import { createLeaseKeeper } from '../../../src/apply/lease/lease-keeper.ts';
import type { Session } from '../../../src/apply/reach/session.ts';
import { realTiming } from '../../../src/apply/run-timing.ts';
import { pauseToRetry, type StepContext, type StepOf } from '../../../src/apply/steps/context.ts';
import { runAsk, runGate } from '../../../src/apply/steps/gate.ts';
import { runReboot, silenceCounter } from '../../../src/apply/steps/reboot.ts';
import { runJob } from '../../../src/apply/steps/script.ts';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { known } from '../../../src/model/known.ts';
import { nodeName } from '../../../src/model/node.ts';
import type { Act } from '../../../src/model/step.ts';
import { withFakeClock } from '../../fake-clock.ts';
import { printFrames } from '../../hostile/recorded-frames.ts';
import { meshFleet } from '../../rack/placements.ts';
import { aStep, jobAct } from '../../rack/plans.ts';
import { outputIn } from '../engine/observe/fact-cases.ts';
import { onOnePage, sayValue } from '../one-page.ts';

const node = nodeName('studio-1');

/** A command whose output is this text. */
const printing = (stdout: string, code = 0) => ({
  kind: 'ended',
  rootPrefix: '',
  result: { exit: { kind: 'exited', code }, stdout: Buffer.from(stdout), stderr: Buffer.from('') },
});

/** Records the fake time of each command with this name, in seconds, and answers it. */
function recorder(name: string, stdout: string) {
  const times: number[] = [];
  const ask = async (make: (root: string) => { readonly name: string }) => {
    if (make('').name === name) times.push(performance.now() / 1_000);
    return printing(make('').name === name ? stdout : '@changed\n');
  };
  const session = { node, user: 'mesh', isLost: () => false, forget: () => undefined, ask } as unknown as Session;
  return { times, session };
}

/** A step's context whose commands go to one session, and that aborts after this many seconds. */
function contextOf(session: Session, seconds: number, progress: StepContext['progress'] = sayValue) {
  const ended = new AbortController();
  setTimeout(() => ended.abort(), seconds * 1_000);
  return {
    runId: 'run',
    verb: 'apply',
    by: 'ana',
    config: 'x',
    peerKey: 'key',
    timing: realTiming,
    desired: meshFleet(),
    observeMs: 500,
    newBoundary: () => '0'.repeat(32),
    signal: ended.signal,
    session: () => session,
    lease: () => ({ kind: 'leased', fencingToken: 1 }),
    way: () => ({ kind: 'no-way', diagnostics: [diagnose('ssh/unreachable', { detail: 'no route' })] }),
    suspend: () => undefined,
    resume: async () => undefined,
    exchangeKeys: () => ({ privateKey: 'private', publicKey: 'ssh-ed25519 BBBB' }),
    progress,
  } as unknown as StepContext;
}

type Options = Parameters<typeof createLeaseKeeper>[0];

const stepOf = <K extends Act['kind']>(act: Extract<Act, { kind: K }>, deadlineMs = 600_000) =>
  ({ ...aStep('studio-1/step', { deadlineMs }), act }) as StepOf<K>;

describe("a step's polls", () => {
  it('try to reach a restarting Mac less and less often, then every 15 s, too rarely for a penalty of sshd', async () => {
    const times: number[] = [];
    const act = { kind: 'reboot', to: 'up', from: known('B0') } as const;
    const note = () => void times.push(performance.now() / 1_000);
    const result = await withFakeClock(100_000, () =>
      runReboot(stepOf(act, 90_000), contextOf(recorder('', '').session, 99, note)),
    );
    expect([sayValue(result).outcome, times]).toEqual(['failed', [5, 12, 22, 37, 52, 67, 82, 97]]);
    // A failed login adds 5 s, and from 15 s, sshd refuses connections. @see sshd_config(5): PerSourcePenalties
    let owed = 0;
    for (const [index, at] of times.entries()) {
      owed = 5 + Math.max(0, owed - (at - (times[index - 1] ?? 0)));
      expect(owed).toBeLessThan(15);
    }
  });

  it('are not made while it is unknown whether a program ordered the macOS update', async () => {
    const install = { label: 'macOS Tahoe 26.7-25G229', by: 'command' } as const;
    const act = { kind: 'reboot', to: 'up', from: known('B0'), install } as const;
    const { session, times } = recorder('poll-job', '');
    const orderUpdate = async () => ({ kind: 'unknown', why: 'The program was stopped.' }) as const;
    const { outcome, diagnostics } = await runReboot(stepOf(act), { ...contextOf(session, 99), orderUpdate });
    expect([outcome, diagnostics[0]?.code, times]).toEqual(['failed', 'upgrade/not-restarted', []]);
  });

  it('check a gate every second until the gate passes or aborts', async () => {
    const { session, times } = recorder('observe', '');
    const sleep = (value: number) => ({ node, address: 'power/sleep', about: { kind: 'power' }, value });
    const gate = (expected: number, abortsAt: number, session: Session, seconds = 60) => {
      const act = { kind: 'gate', expect: [sleep(expected)], aborts: [sleep(abortsAt)] } as never;
      const run = () => runGate(stepOf<'gate'>(act, 9_000), contextOf(session, seconds));
      return withFakeClock(70_000, async () => sayValue(await run()).outcome);
    };
    expect([await gate(0, 5, session, 8.5), times]).toEqual(['interrupted', [0, 1, 2, 3, 4, 5, 6, 7, 8]]);
    const printed = [undefined, 'pmset-cap'].map((probe) => ({ out: outputIn('power/studio', probe) }));
    const seen = recorder('observe', printFrames('0'.repeat(32), printed).toString());
    const ends = [await gate(0, 5, seen.session), await gate(5, 6, seen.session), await gate(5, 0, seen.session)];
    expect(ends).toEqual(['unchanged', 'failed', 'failed']);
    expect(seen.times).toEqual([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
  });

  it('ask for a token every second', async () => {
    const { session, times } = recorder('ask', '\n503');
    const act = { kind: 'ask', placement: 'kimi', judge: 'token', port: 1, path: '/', request: '{}', pointer: '/a' };
    await withFakeClock(20_000, () => runAsk(stepOf<'ask'>(act as never), contextOf(session, 9.5)));
    expect(times).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("check a job's state every second", async () => {
    const { session, times } = recorder('poll-job', 'state=running\nprogress=1 2\nend\n');
    await withFakeClock(20_000, () => runJob(stepOf<'job'>(jobAct as never), contextOf(session, 9.5)));
    expect(times).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('restart a vanished job after two seconds, at most three times', async () => {
    const { session, times } = recorder('poll-job', 'state=gone\nend\n');
    const { diagnostics } = await withFakeClock(20_000, () =>
      runJob(stepOf<'job'>(jobAct as never), contextOf(session, 19)),
    );
    expect([sayValue(diagnostics)[0]?.code, times]).toEqual(['step/job-gone', [0, 2, 4]]);
  });

  it('wait longer before each of two retries', async () => {
    const context = contextOf(recorder('', '').session, 60);
    const times = await withFakeClock(20_000, async () => {
      const waited: (boolean | number)[] = [];
      for (const attempts of [1, 2, 3]) waited.push(await pauseToRetry(context, attempts), performance.now());
      return waited;
    });
    expect(times).toEqual([true, 2_000, true, 6_000, false, 6_000]);
  });
});

describe("a lease's polls", () => {
  const claim = {
    run: 'run-2',
    owner: 'ana@desk',
    verb: 'apply',
    phase: 'start',
    controller: 'abc',
    pid: 1,
    start: 'x',
    since: '',
  };
  const keeperOf = (session: Session, more: Partial<Options> = {}) =>
    createLeaseKeeper({
      claim,
      controller: { id: 'abc', name: 'ana@desk', pid: 1, pidStart: 'x' },
      timing: realTiming,
      waitMs: 10_000,
      askMs: 500,
      session: () => session,
      onChange: () => undefined,
      ...more,
    });

  it('renew a lease every five seconds until it is released', async () => {
    const { session, times } = recorder('keep-lease', '');
    const taking = {
      ...session,
      ask: async (make: never) => {
        await session.ask(make);
        return printing('@taken 1 B0\n');
      },
    };
    const left = await withFakeClock(40_000, async () => {
      const keeper = keeperOf(taking as unknown as Session);
      await keeper.take([node]);
      await new Promise((resolve) => setTimeout(resolve, 22_000));
      await keeper.release();
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      return keeper.lost.aborted;
    });
    expect([left, times]).toEqual([false, [5, 10, 15, 20, 22]]);
  });

  it("check another run's lease every two seconds, until its heartbeat has stopped for 30 s", async () => {
    const { session, times } = recorder('take-lease', '@held\n|run=run-1\n|token=1\n|heartbeat=7\n');
    const ended = new AbortController();
    const changes: unknown[] = [];
    const result = await withFakeClock(60_000, () => {
      setTimeout(() => ended.abort(), 33_000);
      const onChange: Options['onChange'] = ({ state }) => void changes.push([state, performance.now() / 1_000]);
      return keeperOf(session, { signal: ended.signal, onChange }).take([node]);
    });
    const every2s = Array.from({ length: 17 }, (_, at) => 2 * at);
    expect([result.kind, times]).toEqual(['interrupted', [0, ...every2s]]);
    expect(changes).toEqual([
      ['waiting', 0],
      ['expired', 30],
    ]);
  });
});

it('silenceCounter reports a Mac as off after two silent checks in a row', () => {
  expect([true, false, true, true].map(silenceCounter())).toEqual([false, false, false, true]);
});

onOnePage('polls');
