import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultName, faultNames } from '../../src/sim/faults/faults.ts';
import { faultRows } from '../contract/fault-rows.ts';
import { endPlace, placeWithFleet } from './fleet.ts';
import { codesOf, expectGolden, json, meshwright } from './meshwright.ts';
import type { Place } from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await placeWithFleet();
});
afterAll(() => endPlace(place));

const run = (...words: string[]) => meshwright(place, words);

/** The target of each fault, and the exit code of `status`: 3 if only a manual step helps, 4 if some nodes are wrong. */
const shows: Readonly<Record<FaultName, { readonly target: string; readonly exit: number }>> = {
  'bridge-active': { target: 'studio-2', exit: 4 },
  'bridge-rebuilt': { target: 'studio-2', exit: 4 },
  'cable-40g': { target: 'studio-1:2', exit: 3 },
  'cable-doubled': { target: 'studio-1:2', exit: 0 },
  'cable-extra': { target: 'studio-1:5,studio-3:6', exit: 0 },
  'cable-foreign': { target: 'studio-1:5', exit: 0 },
  'cable-missing': { target: 'studio-1:3', exit: 3 },
  'cable-slow': { target: 'studio-1:2', exit: 0 },
  'cable-swapped': { target: 'studio-4', exit: 3 },
  'clock-skew': { target: 'studio-3', exit: 0 },
  'connection-drop': { target: 'studio-2', exit: 4 },
  crash: { target: 'studio-1', exit: 4 },
  'daemon-conflict': { target: 'studio-2', exit: 4 },
  'dhcp-reset': { target: 'studio-2:3', exit: 4 },
  'disk-full': { target: 'studio-1', exit: 0 },
  'filevault-locked': { target: 'studio-1', exit: 3 },
  'gid-missing': { target: 'studio-1:2', exit: 4 },
  'hub-between': { target: 'studio-1:2', exit: 0 },
  'hub-hides-peer': { target: 'studio-1:2', exit: 0 },
  'internet-sharing': { target: 'studio-1:2', exit: 4 },
  'ipv4-off': { target: 'studio-2:3', exit: 4 },
  'mac-replaced': { target: 'studio-2', exit: 4 },
  'macos-new': { target: 'studio-4', exit: 4 },
  'macos-old': { target: 'studio-4', exit: 4 },
  'no-full-disk-access': { target: 'studio-1', exit: 0 },
  'no-return': { target: 'studio-1', exit: 0 },
  'not-enrolled': { target: 'studio-2', exit: 4 },
  'power-cut': { target: 'studio-2', exit: 4 },
  'power-wrong': { target: 'studio-1', exit: 4 },
  'rdma-disabled': { target: 'studio-3', exit: 3 },
  'idle-dead-port': { target: 'studio-1:2', exit: 0 },
  'pd-leak': { target: 'studio-1', exit: 0 },
  'rdma-hang': { target: 'studio-1', exit: 0 },
  'rdma-held': { target: 'studio-1', exit: 0 },
  'rdma-waiting': { target: 'studio-1', exit: 4 },
  'remote-login-off': { target: 'studio-2', exit: 4 },
  'slow-shutdown': { target: 'studio-1', exit: 0 },
  'sudo-denied': { target: 'studio-2', exit: 0 },
  'tcp-load-panic': { target: 'studio-1', exit: 0 },
  'verbs-hang': { target: 'studio-1', exit: 4 },
  'wired-leak': { target: 'studio-1', exit: 0 },
  'wrong-host-key': { target: 'studio-2', exit: 4 },
  'wrong-mac': { target: 'studio-1,studio-2', exit: 4 },
};

/** A boot resets it; both Macs that are restarted here have 512 GiB. */
async function setWiredLimit(node: string): Promise<void> {
  const ran = await run('exec', '--sim', node, '--', 'sudo', '-n', 'sysctl', 'iogpu.wired_limit_mb=491520');
  expect(ran.code).toBe(0);
}

describe('status of a broken rack', () => {
  it.each(faultNames)('shows the findings and the repair for %s, and exits with its code', async (fault) => {
    const { target, exit } = shows[fault];
    const set = await run('sim', 'fault', fault, target);
    const seen = await run('status', '--sim');
    const cleared = await run('sim', 'fault', '--clear', fault);
    if (faultRows[fault].restarts) await setWiredLimit(target);
    await expectGolden(`status-${fault}`, place, [set, seen, cleared]);
    expect([set.code, seen.code, cleared.code]).toEqual([0, exit, 0]);
  });

  it('exits with 1 if every node has a finding', async () => {
    for (const node of ['studio-1', 'studio-2']) await run('sim', 'fault', 'bridge-active', node);
    const ran = await run('status', '--sim', 'studio-1', 'studio-2');
    await run('sim', 'fault', '--clear');
    expect(ran.code).toBe(1);
  });
});

describe('facts with unreachable nodes', () => {
  it('shows the reason alongside the facts of other nodes, in text and JSON', async () => {
    await run('sim', 'fault', 'filevault-locked', 'studio-1');
    await run('sim', 'fault', 'wrong-host-key', 'studio-2');
    const [text, asJson, locked] = await Promise.all([
      run('facts', '--sim', '--fact', 'macos-version'),
      run('facts', '--sim', '--fact', 'macos-version', '--json'),
      run('facts', '--sim', '--fact', 'macos-version', 'studio-1', 'studio-4'),
    ]);
    await run('sim', 'fault', '--clear');
    await expectGolden('facts-unreached', place, [text]);
    expect(codesOf(json(asJson))).toEqual(['ssh/locked-at-filevault', 'ssh/host-key-changed']);
    expect([text.code, asJson.code, locked.code]).toEqual([4, 4, 3]);
  });
});

describe('sim fault', () => {
  it('rejects unknown faults and targets with a suggestion', async () => {
    const rans = await Promise.all([
      run('sim', 'fault'),
      run('sim', 'fault', 'rdma-disable', 'studio-1'),
      run('sim', 'fault', 'rdma-disabled'),
      run('sim', 'fault', 'rdma-disabled', 'studio-9'),
      run('sim', 'fault', 'cable-missing', 'studio-1:6'),
      run('sim', 'fault', '--clear', 'clock-skew', 'studio-1'),
      run('sim', 'fault', '--list', 'clock-skew'),
    ]);
    await expectGolden('sim-fault-refused', place, rans);
  });
});
