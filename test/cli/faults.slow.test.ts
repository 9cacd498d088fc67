import { describe, expect, it } from 'vitest';
import type { FaultName } from '../../src/sim/faults/faults.ts';
import { faultRows, triedFaults } from '../contract/fault-rows.ts';
import { fleetPlace } from './fleet.ts';
import { codesOf, expectGolden, json } from './meshwright.ts';

const { place, run } = fleetPlace();

/** Targets other than those in `fault-rows.ts`. */
const targets: Partial<Readonly<Record<FaultName, string>>> = {
  'bridge-rebuilt': 'studio-2',
  'daemon-conflict': 'studio-2',
  'gid-missing': 'studio-1:2',
  'rdma-waiting': 'studio-1',
};

/** A boot resets it; both Macs that are restarted here have 512 GiB. */
async function setWiredLimit(node: string): Promise<void> {
  const ran = await run('exec', '--sim', node, '--', 'sudo', '-n', 'sysctl', 'iogpu.wired_limit_mb=491520');
  expect(ran.code).toBe(0);
}

describe('status of a broken rack', () => {
  it.each(triedFaults)('shows the findings and the repair for %s, and exits with its code', async (fault) => {
    const { restarts, target: usual } = faultRows[fault];
    const target = targets[fault] ?? usual;
    const set = await run('sim', 'fault', fault, target);
    const seen = await run('status', '--sim');
    const cleared = await run('sim', 'fault', '--clear', fault);
    if (restarts) await setWiredLimit(target);
    await expectGolden(`status-${fault}`, place, [set, seen, cleared]);
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
