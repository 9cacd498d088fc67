import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimOf } from '../../src/apply/lease/controller.ts';
import { createLeaseKeeper, type LeaseChange, type LeaseKeeper } from '../../src/apply/lease/lease-keeper.ts';
import { openSession, type Session } from '../../src/apply/reach/session.ts';
import { nodeName } from '../../src/model/node.ts';
import { mutatingCommand, mutatingScript } from '../../src/node/root-script.ts';
import { shared } from '../rack/kept-running.ts';
import { eventually } from '../rack/running.ts';
import { controller, quickTiming, setClock, startApplyRack, tenYears } from './apply-rack.ts';
import { patientTiming } from './apply-steps.ts';

const history = '/Library/Application Support/meshwright/log/history';
const ownerFile = '/Library/Application Support/meshwright/lease/owner';
const [one, two] = [nodeName('studio-1'), nodeName('studio-2')];

const rack = shared(() => startApplyRack('lease'));
const sessions: Session[] = [];
/** Scripts that hang for longer than their test. */
const hanging: Promise<unknown>[] = [];
beforeAll(async () => {
  setClock(rack, one, tenYears);
  setClock(rack, two, -tenYears);
});
afterAll(async () => {
  endScript('hanging');
  await Promise.all(hanging);
  for (const session of sessions) session.close();
});

interface ContenderOptions {
  readonly run: string;
  readonly controller?: string;
  readonly pid?: number;
  readonly heartbeatMs?: number;
  readonly leaseExpiryMs?: number;
  readonly busyMs?: number;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  readonly port?: number;
}

interface Contender {
  readonly keeper: LeaseKeeper;
  readonly changes: LeaseChange[];
  readonly phases: () => readonly string[];
}

const runs = new Map<LeaseKeeper, string>();

/** A run that takes leases over separate connections. */
function contender({ run, waitMs = 0, signal, ...who }: ContenderOptions): Contender {
  const { heartbeatMs, leaseExpiryMs, busyMs } = { ...patientTiming, ...who };
  const own = new Map<string, Session>();
  const session = (node: string): Session => {
    const known = own.get(node) ?? openSession(rack.way(node, who), { deadlineMs: 10_000, retryMs: 10 });
    own.set(node, known);
    sessions.push(known);
    return known;
  };
  const changes: LeaseChange[] = [];
  const me = controller(who.controller, who.pid);
  const keeper = createLeaseKeeper({
    claim: claimOf(me, { run, verb: 'apply', phase: 'starting', since: '2026-11-20T11:18:44Z' }),
    controller: me,
    timing: { ...quickTiming, heartbeatMs, leaseExpiryMs, busyMs },
    waitMs,
    askMs: 10_000,
    ...(signal ? { signal } : {}),
    session,
    onChange: (change) => changes.push(change),
  });
  runs.set(keeper, run);
  return { keeper, changes, phases: () => changes.map(({ node, state }) => `${node} ${state}`) };
}

const never = 1_000_000;

/** Starts a script under the lease of a run. The script ends after `endScript`. */
function runScript({ keeper }: Contender, step: string): Promise<unknown> {
  const lease = keeper.lease(one);
  const session = openSession(rack.way(one), { deadlineMs: 10_000, retryMs: 10 });
  sessions.push(session);
  return session.ask((rootPrefix) => {
    const fence = { run: runs.get(keeper) ?? '', token: lease.kind === 'leased' ? lease.fencingToken : 0 };
    const note = { step, verb: 'apply', by: 'ana@desk', config: 'c' };
    const body = `until [ -e "$R/tmp/${step}" ]; do "$R/bin/sleep" 0.05; done\nchanged`;
    const stdin = Buffer.from(mutatingScript({ rootPrefix, fence, note, body }));
    return { name: 'test', command: mutatingCommand(rootPrefix), deadlineMs: 20_000, maxBytes: 10_000, stdin };
  });
}

const endScript = (step: string): void => writeFileSync(`${rack.fleet.nodes[one]?.root}/tmp/${step}`, '');

/** The marks of scripts that run under the lease. */
const marks = (): readonly string[] => {
  const folder = `${rack.fleet.nodes[one]?.root}/Library/Application Support/meshwright/lease`;
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('busy.')) : [];
};

describe('the lease of a node whose clock is ten years off', () => {
  it('is taken in order of node names, signed, renewed with the current phase, and released', async () => {
    const { keeper, phases } = contender({ run: 'run-a' });
    expect(await keeper.take([two, one])).toEqual({ kind: 'taken', isInDoubt: false });
    expect(phases()).toEqual(['studio-1 taken', 'studio-2 taken']);
    const token = keeper.lease(one);
    expect(rack.read(one, ownerFile)).toMatch(/^run=run-a\ntoken=\d+\nowner=ana@desk-01\nverb=apply\n/);
    keeper.setPhase('studio-1/power');
    expect(await eventually(() => rack.read(one, ownerFile)?.includes('phase=studio-1/power') === true)).toBe(true);
    await keeper.release();
    expect(rack.read(one, ownerFile)).toBeUndefined();
    const next = contender({ run: 'run-b' });
    await next.keeper.take([one]);
    const nextToken = next.keeper.lease(one);
    expect(token.kind === 'leased' && nextToken.kind === 'leased' && nextToken.fencingToken > token.fencingToken).toBe(
      true,
    );
    await next.keeper.release();
  });

  it('is refused while its owner lives, and the run releases the leases it took before', async () => {
    const owner = contender({ run: 'run-a' });
    await owner.keeper.take([two]);
    const late = contender({ run: 'run-b', controller: 'ffff00000000' });
    expect(await late.keeper.take([one, two])).toEqual({
      kind: 'refused',
      refusals: [
        {
          node: two,
          holder: {
            run: 'run-a',
            owner: 'ana@desk-01',
            verb: 'apply',
            phase: 'starting',
            since: '2026-11-20T11:18:44Z',
          },
        },
      ],
    });
    expect(late.phases()).toEqual(['studio-1 taken', 'studio-2 waiting', 'studio-1 released', 'studio-2 refused']);
    expect([rack.read(one, ownerFile), owner.keeper.lost.aborted]).toEqual([undefined, false]);
    await owner.keeper.release();
  });

  it('is awaited as long as the user allows', async () => {
    const owner = contender({ run: 'run-a' });
    await owner.keeper.take([one]);
    const patient = contender({ run: 'run-b', waitMs: 20_000 });
    const taking = patient.keeper.take([one]);
    expect(await eventually(() => patient.phases().includes('studio-1 waiting'))).toBe(true);
    await owner.keeper.release();
    expect(await taking).toEqual({ kind: 'taken', isInDoubt: true });
    await patient.keeper.release();
  });

  it('is no longer awaited after an interrupt', async () => {
    const owner = contender({ run: 'run-a' });
    await owner.keeper.take([one]);
    const person = new AbortController();
    const patient = contender({ run: 'run-b', waitMs: 20_000, signal: person.signal });
    const taking = patient.keeper.take([one]);
    expect(await eventually(() => patient.phases().includes('studio-1 waiting'))).toBe(true);
    person.abort();
    expect(await taking).toEqual({ kind: 'interrupted' });
    await owner.keeper.release();
  });

  it('is taken over from a run that stops renewing it, and that run notices the loss', async () => {
    const asleep = contender({ run: 'run-a', heartbeatMs: never });
    await asleep.keeper.take([one]);
    const next = contender({ run: 'run-b', controller: 'ffff00000000', leaseExpiryMs: 300 });
    expect(await next.keeper.take([one])).toEqual({ kind: 'taken', isInDoubt: true });
    expect(next.phases()).toEqual(['studio-1 waiting', 'studio-1 expired', 'studio-1 taken']);
    await asleep.keeper.resume(one);
    expect(asleep.keeper.lost.aborted).toBe(true);
    expect(asleep.phases()).toEqual(['studio-1 taken', 'studio-1 lost']);
    await asleep.keeper.release();
    expect(rack.read(one, ownerFile)).toContain('run=run-b');
    await next.keeper.release();
  });

  it('is taken over immediately from a dead process on this computer', async () => {
    const dead = contender({ run: 'run-a', heartbeatMs: never, pid: 2 ** 22 + 1 });
    await dead.keeper.take([one]);
    const next = contender({ run: 'run-b', leaseExpiryMs: never });
    expect(await next.keeper.take([one])).toEqual({ kind: 'taken', isInDoubt: true });
    expect(next.phases()).toEqual(['studio-1 waiting', 'studio-1 expired', 'studio-1 taken']);
    await next.keeper.release();
  });

  it('is not taken over while a script runs under it, unless the script hangs', async () => {
    const dead = contender({ run: 'run-a', heartbeatMs: never, pid: 2 ** 22 + 1 });
    await dead.keeper.take([one]);
    const script = runScript(dead, 'slow');
    expect(await eventually(() => marks().length === 1)).toBe(true);
    const next = contender({ run: 'run-b', leaseExpiryMs: never });
    const taking = next.keeper.take([one]);
    expect(await eventually(() => next.phases().includes('studio-1 expired'))).toBe(true);
    endScript('slow');
    expect(await taking).toEqual({ kind: 'taken', isInDoubt: true });
    expect(rack.read(one, history)).toContain('step=slow');
    const [, at] = /^at=(\d+) .*step=slow/m.exec(rack.read(one, history) ?? '') ?? [];
    expect(Number(at) - Date.now() / 1_000).toBeGreaterThan(tenYears / 2);
    expect(next.phases()).toEqual(['studio-1 waiting', 'studio-1 expired', 'studio-1 taken']);
    await script;
    await next.keeper.release();
    const stuck = contender({ run: 'run-c', heartbeatMs: never, pid: 2 ** 22 + 1 });
    await stuck.keeper.take([one]);
    hanging.push(runScript(stuck, 'hanging'));
    expect(await eventually(() => marks().length === 1)).toBe(true);
    const hasty = contender({ run: 'run-d', leaseExpiryMs: 200, busyMs: 200 });
    await hasty.keeper.take([one]);
    expect(rack.read(one, history)).not.toContain('step=hanging');
    await hasty.keeper.release();
  });

  it("is kept while a run's script is unfinished, and is taken over when the script ends", async () => {
    const owner = contender({ run: 'run-a', heartbeatMs: never, pid: 2 ** 22 + 1 });
    await owner.keeper.take([one]);
    const script = runScript(owner, 'left');
    expect(await eventually(() => marks().length === 1)).toBe(true);
    await owner.keeper.release();
    expect([owner.phases(), rack.read(one, ownerFile)]).toEqual([
      ['studio-1 taken'],
      expect.stringContaining('run=run-a'),
    ]);
    const next = contender({ run: 'run-b' });
    const taking = next.keeper.take([one]);
    expect(await eventually(() => next.phases().includes('studio-1 expired'))).toBe(true);
    endScript('left');
    await taking;
    expect(rack.read(one, history)).toContain('step=left');
    await next.keeper.release();
    await script;
  });

  it('has one winner when several runs take it over in parallel', async () => {
    const asleep = contender({ run: 'run-a', heartbeatMs: never });
    await asleep.keeper.take([one]);
    // The rivals must see the winner renew the lease before it could expire.
    const rivals = ['b', 'c', 'd'].map((name) =>
      contender({ run: `run-${name}`, controller: `${name.repeat(12)}`, leaseExpiryMs: 10_000 }),
    );
    const results = await Promise.all(rivals.map(({ keeper }) => keeper.take([one])));
    expect(results.map(({ kind }) => kind).sort()).toEqual(['refused', 'refused', 'taken']);
    await Promise.all(rivals.map(({ keeper }) => keeper.release()));
    expect(rack.read(one, ownerFile)).toBeUndefined();
  });

  it('is not taken on an unreachable node, and the run continues without it', async () => {
    const { keeper } = contender({ run: 'run-a', port: 1 });
    expect(await keeper.take([one])).toEqual({ kind: 'taken', isInDoubt: false });
    expect(keeper.lease(one)).toMatchObject({ kind: 'none', diagnostics: [{ code: 'ssh/refused' }] });
    await keeper.release();
  });

  it('is not renewed while its node restarts, and is renewed again afterwards', async () => {
    const { keeper } = contender({ run: 'run-a' });
    await keeper.take([one]);
    keeper.suspend(one);
    keeper.setPhase('after');
    // Several heartbeats later.
    await new Promise((resolve) => setTimeout(resolve, 5 * patientTiming.heartbeatMs));
    expect(rack.read(one, ownerFile)).toContain('phase=starting');
    await keeper.resume(one);
    expect(rack.read(one, ownerFile)).toContain('phase=after');
    await keeper.release();
  });
});
