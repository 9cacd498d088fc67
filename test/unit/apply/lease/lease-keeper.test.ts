import { describe, expect, it } from 'vitest';
import { createLeaseKeeper, releaseDeadLease } from '../../../../src/apply/lease/lease-keeper.ts';
import type { Session } from '../../../../src/apply/reach/session.ts';
import { realTiming } from '../../../../src/apply/run-timing.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { withFakeClock } from '../../../fake-clock.ts';

const about = { run: 'run-2', owner: 'ana', verb: 'apply', phase: 'starting', start: 'x', since: '' };
const controller = { id: 'abc', name: 'ana', pid: 1, pidStart: 'x' };
const wish = { claim: { ...about, controller: 'abc', pid: 1 }, controller, timing: realTiming, askMs: 500 };
const held = (heartbeat: number, more = '') =>
  `@held\n|run=run-1\n|token=1\n|owner=bea\n|verb=stop\n|phase=p\n|since=s\n${more}|heartbeat=${heartbeat}\n`;
const holder = { run: 'run-1', owner: 'bea', verb: 'stop', phase: 'p', since: 's' };
const [a, b, c] = ['a', 'b', 'c'].map(nodeName) as [never, never, never];

/** A printed text, an exit code, or `off` for a node that is not reached. */
type Answer = string | number | 'off';

/** A keeper whose nodes give these answers, the last one forever, and a log of requests and changes. */
function rackOf(answers: Readonly<Record<string, readonly Answer[]>>) {
  const log: string[] = [];
  const left = new Map(Object.entries(answers).map(([node, all]) => [node, [...all]]));
  const ask = async (node: string, make: (root: string) => { readonly name: string; readonly script: string }) => {
    const { name, script } = make('');
    const phase = /^phase='?([^'\n]*)/m.exec(script)?.[1] ?? '';
    const word = script.includes('seen_run') ? 'steal' : name.replace('-lease', '');
    log.push(`${performance.now() / 1_000}s ${node} ${word} ${phase}`.trim());
    const own = left.get(name === 'take-lease' ? node : `${node} kept`);
    const answer = (own !== undefined && own.length > 1 ? own.shift() : own?.[0]) ?? 0;
    if (answer === 'off') return { kind: 'unreached', diagnostics: [diagnose('ssh/unreachable', { detail: '' })] };
    const [code, stdout] = typeof answer === 'number' ? [answer, ''] : [0, answer];
    const result = { exit: { kind: 'exited', code }, stdout: Buffer.from(stdout), stderr: Buffer.from('one\nbusy\n') };
    return { kind: 'ended', result };
  };
  const session = (node: string) =>
    ({
      node,
      user: 'mesh',
      isLost: () => node === 'c',
      ask: (make: never) => ask(node, make),
      forget: () => void log.push(`${node} forget`),
    }) as unknown as Session;
  const keeper = createLeaseKeeper({
    ...wish,
    waitMs: 7_000,
    session,
    onChange: ({ node, state, token = '', holder: by }) =>
      void log.push(`${node} ${state} ${token}${Object.values(by ?? {}).join(' ')}`.trim()),
  });
  return { keeper, session, log: () => log.splice(0).join(', ') };
}

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1_000));

describe("a run's leases", () => {
  it('are taken in order, renewed in every phase, and released unless they are suspended', async () => {
    const { keeper, log } = rackOf({ a: ['@taken 7 B1\n'], b: ['@taken 8 B2\n'], c: ['@taken 9 \n'] });
    await withFakeClock(60_000, async () => {
      const observed = { a: { bootSession: 'B1' }, b: { bootSession: null } };
      expect(await keeper.take([c, b, a], observed)).toEqual({ kind: 'taken', isInDoubt: false });
      expect(await keeper.take([b])).toEqual({ kind: 'taken', isInDoubt: false });
      expect(keeper.lease(b)).toEqual({ kind: 'leased', fencingToken: 8 });
      keeper.setPhase('a/power/set');
      keeper.suspend(b);
      await seconds(11);
      await keeper.release();
      await seconds(11);
    });
    expect(() => keeper.lease(a)).toThrow('no lease was asked for on a');
    const kept =
      '5s a keep a/power/set, 5s c keep a/power/set, 10s a keep, 10s c keep, 11s a keep, c forget, 11s c keep, a released 7, c released 9';
    const all = `0s a take, a taken 7, 0s b take, b taken 8, 0s c take, c taken 9, ${kept}`;
    expect([log(), keeper.lost.aborted]).toEqual([all, false]);
  });

  it('are released over a new connection if a response is lost, or expire if that connection also fails', async () => {
    const { keeper, log } = rackOf({ a: ['@taken 7 \n'], 'a kept': ['off', 0], b: ['@taken 8 \n'], 'b kept': ['off'] });
    await withFakeClock(60_000, async () => {
      await keeper.take([a, b]);
      await keeper.release();
    });
    const all = log();
    expect(all).toMatch(/a forget, .*0s a keep, .*a released 7$/);
    expect(all).toMatch(/b forget, .*0s b keep/);
    expect(all).not.toContain('b released');
  });

  it('are in doubt if a node has restarted, and are lost if a renewal is rejected after the node resumes', async () => {
    const { keeper, log } = rackOf({ a: ['@taken 7 B2\n'], 'a kept': [1, 0, 75], b: ['off'] });
    await withFakeClock(60_000, async () => {
      const taken = await keeper.take([a, b], { a: { bootSession: 'B1' } });
      expect(taken).toEqual({ kind: 'taken', isInDoubt: true });
      expect(keeper.lease(b)).toMatchObject({ kind: 'none', diagnostics: [{ code: 'ssh/unreachable' }] });
      for (const node of [a, b]) keeper.suspend(node);
      await seconds(6);
      for (const node of [a, b]) await keeper.resume(node);
      await seconds(11);
      keeper.lose(a);
      await keeper.release();
    });
    const all = '0s a take, a taken 7, 0s b take, 6s a keep, 10s a keep, 15s a keep, a lost 7';
    expect([log(), keeper.lost.aborted]).toEqual([all, true]);
  });

  it("are released if another run has a lease, and taken over if that run's process has ended", async () => {
    const { keeper, log } = rackOf({ a: ['@taken 7 B1\n'], b: [1, 2, 3, 4, 5].map((heartbeat) => held(heartbeat)) });
    const taken = await withFakeClock(60_000, () => keeper.take([a, b]));
    const tries = '0s b take, 2s b take, 4s b take, 5s a keep, 6s b take, 8s a keep, a released 7';
    const all = `0s a take, a taken 7, 0s b take, b waiting run-1 bea stop p s, ${tries}, b refused run-1 bea stop p s`;
    expect([taken, log()]).toEqual([{ kind: 'refused', refusals: [{ node: b, holder }] }, all]);
    const dead = held(1, '|controller=abc\n|pid=2147483647\n|start=x\n');
    const own = rackOf({ a: [dead, '@taken 9 B1\n'], b: ['@held\n|run=run-2\n|token=5\n|heartbeat=0\n'], c: [3] });
    await withFakeClock(60_000, async () => {
      expect(await own.keeper.take([a, b, c])).toEqual({ kind: 'taken', isInDoubt: true });
      await own.keeper.release();
    });
    expect(own.keeper.lease(c)).toMatchObject({ diagnostics: [{ code: 'lease/not-taken' }] });
    const found =
      '0s a take, a waiting run-1 bea stop p s, a expired run-1 bea stop p s, 0s a steal, a taken 9, 0s b take';
    expect(own.log()).toBe(`${found}, b taken 5, 0s c take, 0s a keep, 0s b keep, a released 9, b released 5`);
  });
});

describe('the release of a dead lease', () => {
  const released = (answers: readonly Answer[], kept: readonly Answer[] = [0]) =>
    withFakeClock(90_000, () => releaseDeadLease(rackOf({ a: answers, 'a kept': kept }).session('a'), wish));

  it('takes the lease over first, unless its run is alive', async () => {
    expect(await released(['@taken 3 B1\n'])).toEqual({ kind: 'free' });
    expect(await released(['@taken 3 B1\n'], [73])).toEqual({ kind: 'unheard' });
    expect(await released([held(1), held(1), '@taken 3 B1\n'])).toEqual({ kind: 'released' });
    expect(await released([held(1), held(2)])).toEqual({ kind: 'alive', holder });
    expect(await released(['off'])).toMatchObject({ kind: 'failed', diagnostics: [{ code: 'ssh/unreachable' }] });
  });
});
