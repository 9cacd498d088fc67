import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { scaledTiming } from '../../src/apply/run-timing.ts';
import { readShownKey, trustIn, type Unlocked, unlockNode } from '../../src/apply/unlock-node.ts';
import { openUnlockAttempts } from '../../src/cli/unlock/unlock-by-itself.ts';
import { nodeName } from '../../src/model/node.ts';
import { concealed } from '../../src/model/secret.ts';
import { nodeSubject } from '../../src/model/subject.ts';
import { bootSessionFact } from '../../src/rack/boot/fact.ts';
import { read } from '../../src/rack/fact.ts';
import { startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import type { FleetModel } from '../../src/sim/hosts/fleet-model.ts';
import type { ConnectionState } from '../../src/sim/model/fleet.ts';
import { shared } from '../rack/kept-running.ts';
import { bareModel, freshFolder, wayTo } from '../rack/running.ts';
import { observe, startExampleRack } from './observe-rack.ts';

const timing = scaledTiming(0.05);
const node = nodeName('studio-2');
const rack = shared(() => startExampleRack());
const state = mkdtempSync(join(tmpdir(), 'meshwright-unlock-'));
const progress: string[] = [];
/** Addresses of Macs recorded as unlocked. */
const seenUps: string[] = [];

afterEach(() => rack.fleet.clearFault([]));
afterAll(() => rmSync(state, { recursive: true, force: true }));

async function unlock(password: string, way = rack.way('studio-2').way, times = timing): Promise<Unlocked> {
  if (way.kind !== 'way') throw new Error('no SSH target');
  const shown = await readShownKey(way, { deadlineMs: 20_000 });
  if (shown === undefined) throw new Error('the Mac is not locked');
  const one = { node, way, trust: trustIn(way.target, shown.key), password: concealed(password) };
  const kept = openUnlockAttempts({ MESHWRIGHT_STATE: state }, times.unlockPauseMs);
  const seenUp = (address: string): Promise<void> => {
    seenUps.push(address);
    return kept.seenUp(address);
  };
  const limits = {
    // Every run of a controller opens the record of attempts again.
    attempts: { ...kept, seenUp },
    deadlineMs: 20_000,
    timing: times,
    newBoundary: () => 'a'.repeat(32),
    signal: new AbortController().signal,
    onProgress: (name: string, text: string) => void progress.push(`${name}: ${text}`),
  };
  const result = await unlockNode(one, limits);
  expect(inspect([one, result], { depth: 20, showHidden: true })).not.toContain(password);
  return result;
}

const counts = () => rack.fleet.counts()['studio-2'];
const session = async (): Promise<unknown> =>
  read((await observe([rack.way('studio-2')])).nodes['studio-2']?.facts, bootSessionFact);

describe('unlocking a Mac at FileVault', () => {
  it('succeeds with the right password, waits between attempts, and observes the unlocked Mac', async () => {
    const before = await session();
    await rack.fleet.setFault(['filevault-locked', 'studio-2']);
    // Long enough that even on a slow machine, the second attempt comes too early.
    const times = { ...timing, unlockPauseMs: 5_000 };
    const attempts = [];
    for (const password of ['Wrong-horse-1', 'Wrong-horse-2', 'simulated']) {
      attempts.push(await unlock(password, undefined, times));
    }
    expect(attempts).toMatchObject([
      { kind: 'failed', diagnostic: { code: 'ssh/password-refused' } },
      { kind: 'failed', diagnostic: { code: 'ssh/password-refused' } },
      { kind: 'unlocked', session: expect.stringMatching(/^[0-9A-F-]{36}$/) },
    ]);
    expect(seenUps).toHaveLength(1);
    expect(counts()).toMatchObject({ prebootPasswords: 3, hastyPasswords: 0 });
    expect(progress.join('\n')).toMatch(/studio-2: waiting [1-5] s/);
    // Only a reboot locks a Mac, so no earlier process is alive.
    const after = await session();
    expect([before, after]).toMatchObject([{ kind: 'known' }, { kind: 'known' }]);
    expect(after).not.toEqual(before);
    expect(progress.join('\n')).not.toContain('horse');
  });
});

describe('a Mac that accepted its password', () => {
  const states = {
    'unlock/still-locked': { hostKey: 'own', filevault: 'preboot' },
    'unlock/no-return': { hostKey: 'own', filevault: 'unlocked', isRemoteLoginOff: true },
    // The Mac is reported as soon as it is observed: waiting longer would outlast the test.
    'ssh/host-key-changed': { hostKey: 'other', filevault: 'unlocked' },
  } as const;

  it.each(Object.entries(states))('fails with %s if it cannot be observed afterwards', async (code, after) => {
    const folder = await freshFolder();
    const model = bareModel(['studio-2']);
    let connection: ConnectionState = { hostKey: 'own', filevault: 'preboot' };
    const happen: FleetModel['happen'] = (_node, { kind }) => {
      if (kind === 'unlock') connection = after;
    };
    const viewOf = (name: string) => ({ ...model.viewOf(name), connection });
    const fleet = await startFleet({ folder, model: { ...model, viewOf, happen }, clockFactor: 0.001 });
    seenUps.length = 0;
    const unlockReturnMs = code === 'ssh/host-key-changed' ? 3_600_000 : 5_000;
    const result = await unlock('simulated', wayTo(fleet, 'studio-2').way, { ...timing, unlockReturnMs });
    await fleet.stop();
    await rm(folder, { recursive: true, force: true });
    expect(result).toMatchObject({ kind: 'failed', diagnostic: { code, subject: nodeSubject('studio-2') } });
    expect(seenUps).toEqual([]);
  });
});

describe('the record of unlock attempts', () => {
  it('allows one attempt at a time and remembers refused ones, across processes', async () => {
    const env = { MESHWRIGHT_STATE: join(state, 'memory') };
    const first = openUnlockAttempts(env, 60_000);
    const takes = await Promise.all([
      first.take('a', 0),
      openUnlockAttempts(env, 60_000).take('a', 0),
      first.take('b', 0),
    ]);
    expect([takes.filter((ms) => ms === 0).length, takes.every((ms) => ms <= 60_000)]).toEqual([2, true]);
    await first.ended('a', 'refused');
    const next = openUnlockAttempts(env, 60_000);
    expect([next.wasRefused('a'), next.wasRefused('b'), next.wasRefused('c')]).toEqual([true, false, false]);
    expect(await next.take('a', 0)).toBeGreaterThan(0);
    expect(await openUnlockAttempts(env, 0).take('a', 0)).toBe(0);
  });
});
