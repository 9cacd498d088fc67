import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { linkEndText, nodeName } from '../../../../src/model/node.ts';
import type { FaultName } from '../../../../src/sim/faults/faults.ts';
import type { HandsAct } from '../../../../src/sim/hands.ts';
import { macNamed, type SimulatedFleet } from '../../../../src/sim/model/fleet.ts';
import {
  append,
  beginHistory,
  faultsInForce,
  type History,
  historyText,
  type SimEvent,
  savedHistory,
  withoutFaults,
} from '../../../../src/sim/model/history.ts';
import { desiredRack, simulated } from '../../../rack/rack.ts';

const healthy = simulated();

const write = (node: string, tool: string, ...args: readonly string[]): SimEvent => ({
  kind: 'write',
  node,
  tool,
  args,
  isRoot: true,
});
const sleep = (minutes: number): SimEvent => write('studio-1', '/usr/bin/pmset', '-a', 'sleep', String(minutes));
const fault = (name: FaultName, target = 'studio-1'): SimEvent => ({ kind: 'fault', fault: name, target });
const boot = (mac: string): SimEvent => ({ kind: 'boot', mac, atEpochSeconds: 1_800_000_000 });

const historyOf = (...events: readonly SimEvent[]): History =>
  events.reduce((history, event) => append(history, event).history, beginHistory(healthy));
const first = ({ fleet }: { readonly fleet: SimulatedFleet }) => macNamed(fleet, 'studio-1');
const names = (history: History): readonly string[] => faultsInForce(history).map((one) => one.fault);

/** The history without faults. */
function withoutAllFaults(history: History): History {
  const cleared = withoutFaults(history, () => true);
  if (cleared.kind === 'history') return cleared.history;
  throw new Error(plainText(cleared.diagnostic.detail));
}

describe("a rack's history", () => {
  it('keeps writes that came after a removed fault', () => {
    const history = withoutAllFaults(historyOf(fault('macos-old'), sleep(7), fault('rdma-disabled')));
    expect(first(history)).toMatchObject({
      isRdmaEnabled: true,
      macos: { version: '26.5' },
      power: { sleepMinutes: 7 },
    });
  });

  it('starts a Mac past FileVault once, after an authenticated restart, but not after a power cut or a panic', () => {
    const credentials = ['authrestart', '-inputplist', '-delayminutes', '-1', 'right'];
    const locking = ['filevault-locked', 'studio-1'] as const;
    const unlocked = historyOf(fault(...locking), { kind: 'unlock', mac: 'studio-1' });
    const authorized = append(unlocked, write('studio-1', '/usr/bin/fdesetup', ...credentials)).history;
    const afterBoot = (history: History) => first(append(history, boot('studio-1')).history)?.connection.filevault;
    expect(afterBoot(authorized)).toBe('unlocked');
    expect(afterBoot(append(authorized, boot('studio-1')).history)).toBe('preboot');
    expect(afterBoot(append(authorized, fault('power-cut')).history)).toBe('preboot');
    expect(afterBoot(append(authorized, fault('crash')).history)).toBe('preboot');
  });

  it('detects that later events repaired a fault', () => {
    const broken = historyOf(fault('power-wrong'), fault('clock-skew'));
    expect(names(broken)).toEqual(['power-wrong', 'clock-skew']);
    const set = write('studio-1', '/usr/bin/pmset', '-a', 'sleep', '0', 'disksleep', '0', 'autorestart', '1');
    expect(names(append(broken, set).history)).toEqual(['clock-skew']);
    expect(names(historyOf(fault('gid-missing'), boot('studio-1')))).toEqual([]);
    expect(names(historyOf(fault('rdma-hang'), boot('studio-2')))).toEqual(['rdma-hang']);
    expect(names(historyOf(fault('rdma-hang'), boot('studio-1')))).toEqual([]);
    expect(names(historyOf(fault('pd-leak'), boot('studio-1')))).toEqual([]);
  });

  it("repairs an idle-dead port only after both of its cable's Macs restart", () => {
    const dead: SimEvent = { kind: 'fault', fault: 'idle-dead-port', target: 'studio-1:2' };
    expect(names(historyOf(dead, boot('studio-1')))).toEqual(['idle-dead-port']);
    expect(names(historyOf(dead, boot('studio-2')))).toEqual(['idle-dead-port']);
    expect(names(historyOf(dead, boot('studio-1'), boot('studio-2')))).toEqual([]);
  });

  it('counts a fault without visible effects as repaired and can still remove all of it', () => {
    const file = '/Library/Preferences/SystemConfiguration/preferences.plist';
    const half = historyOf(fault('bridge-active'), write('studio-1', '/sbin/ifconfig', 'bridge0', 'destroy'));
    expect(names(half)).toEqual(['bridge-active']);
    const events: readonly SimEvent[] = [
      write('studio-1', '/usr/libexec/PlistBuddy', '-c', 'Delete :VirtualNetworkInterfaces:Bridge:bridge0', file),
      write('studio-1', '/usr/sbin/networksetup', '-setnetworkserviceenabled', 'Thunderbolt Bridge', 'off'),
    ];
    const whole = events.reduce((history, event) => append(history, event).history, half);
    expect(names(whole)).toEqual([]);
    expect(whole.fleet).not.toEqual(healthy);
    expect(withoutAllFaults(whole).fleet).toEqual(healthy);
    const awake = historyOf(
      fault('power-wrong'),
      write('studio-1', '/usr/bin/pmset', '-a', 'sleep', '0', 'autorestart', '1'),
    );
    expect([names(awake), first(awake)?.power.diskSleepMinutes]).toEqual([[], 10]);
  });

  it('detects when single manual steps repair cables, and does not undo them', () => {
    const end = (node: string, receptacle: number) => ({ node: nodeName(node), receptacle });
    const act = (one: HandsAct): SimEvent => ({ kind: 'hands', act: one });
    const back = act({ kind: 'swap', ends: [end('studio-1', 2), end('studio-1', 3)] });
    const apart = act({ kind: 'unplug', end: end('studio-3', 4) });
    const swapped = fault('cable-swapped', 'studio-1:2,studio-1:3');
    expect(names(historyOf(swapped, apart))).toEqual(['cable-swapped']);
    const cablesOf = ({ fleet }: History) =>
      fleet.cables.map(({ ends }) => ends.map(linkEndText).sort().join(' ')).sort();
    for (const later of [[back], [apart, back], [back, apart]]) {
      const history = historyOf(swapped, ...later);
      expect(names(history)).toEqual([]);
      expect(cablesOf(withoutAllFaults(history))).toEqual(cablesOf(history));
    }
    const slow = fault('cable-40g', 'studio-1:2');
    const pulled = [act({ kind: 'unplug', end: end('studio-1', 2) }), act({ kind: 'unplug', end: end('studio-2', 2) })];
    const fetched = act({ kind: 'plug', ends: [end('studio-1', 2), end('studio-2', 2)] });
    expect(names(historyOf(slow, ...pulled, fetched))).toEqual([]);
    expect(names(historyOf(slow, ...pulled))).toEqual([]);
  });

  it('forgets events without an earlier fault to remove', () => {
    expect(historyOf(sleep(1), boot('studio-1'), sleep(2)).events).toEqual([]);
    const kept = historyOf(sleep(1), fault('clock-skew'), sleep(2));
    expect(kept.events.map(({ kind }) => kind)).toEqual(['fault', 'write']);
    expect(kept.start).toEqual(historyOf(sleep(1)).fleet);
  });

  it('is unchanged by rejected or read-only commands', () => {
    const history = historyOf(sleep(1));
    const print = 'Print :VirtualNetworkInterfaces';
    const file = '/Library/Preferences/SystemConfiguration/preferences.plist';
    expect(append(history, write('studio-1', '/usr/libexec/PlistBuddy', '-c', print, file)).history).toBe(history);
    expect(append(history, fault('clock-skew', 'nobody')).history).toBe(history);
    const byUser = { ...sleep(3), isRoot: false } as SimEvent;
    expect(append(history, byUser).history).toBe(history);
  });

  it("counts each Mac's boots separately", () => {
    const { fleet } = historyOf(boot('studio-1'), boot('studio-1'), boot('studio-2'));
    expect(fleet.macs.map(({ bootSession }) => bootSession.count)).toEqual([2, 1, 0, 0]);
    expect(new Set(fleet.macs.map(({ bootSession }) => bootSession.uuid)).size).toBe(4);
  });

  it('rebuilds a bridge from the preferences when a cable is plugged in', () => {
    const bridged = beginHistory(
      simulated({ ...desiredRack, thunderbolt: { ...desiredRack.thunderbolt, bridge: 'keep' } }),
    );
    const unplugged = healthy.cables.slice(1);
    const events: readonly SimEvent[] = [
      { kind: 'cables', cables: unplugged },
      write('studio-1', '/sbin/ifconfig', 'bridge0', 'destroy'),
    ];
    const gone = events.reduce((history, event) => append(history, event).history, bridged);
    expect(first(gone)?.live.bridge).toBeUndefined();
    expect(first(append(gone, { kind: 'cables', cables: healthy.cables }).history)?.live.bridge).toHaveLength(6);
  });

  const events = fc.array(
    fc.oneof(
      fc.nat({ max: 20 }).map(sleep),
      fc
        .constantFrom('clock-skew', 'power-wrong', 'rdma-disabled', 'bridge-active', 'gid-missing', 'macos-old')
        .map((name) => fault(name as FaultName)),
      fc.constant(fault('cable-missing', 'studio-1:2')),
      fc.constantFrom('studio-1', 'studio-2').map(boot),
      fc.constant(write('studio-1', '/sbin/ifconfig', 'bridge0', 'destroy')),
      fc.nat({ max: 9 }).map((value) => write('studio-1', '/usr/sbin/sysctl', `iogpu.wired_limit_mb=${value}`)),
    ),
    { maxLength: 12 },
  );

  it('equals the history of all other events once its faults are removed', () => {
    fc.assert(
      fc.property(events, (all) => {
        const others = all.filter((event) => event.kind !== 'fault');
        expect(withoutAllFaults(historyOf(...all)).fleet).toEqual(historyOf(...others).fleet);
      }),
      { numRuns: 200 },
    );
  });

  it('is unchanged after saving and loading', () => {
    fc.assert(
      fc.property(events, (all) => {
        const history = historyOf(...all);
        expect(savedHistory(historyText(history))).toEqual(history);
      }),
      { numRuns: 50 },
    );
    for (const text of ['null', '{', '{"formatVersion":2}']) expect(savedHistory(text)).toBeUndefined();
  });
});
