import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { KeeperObservation } from '../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../src/model/node.ts';
import {
  type KeeperSettings,
  keeperData,
  keeperDataText,
  keeperPlist,
  keeperPlistText,
  keeperProgram,
} from '../../../../src/node/paths/keeper-files.ts';
import { textDigest } from '../../../../src/node/put-file.ts';
import { keepText } from '../../../../src/rack/keeper/program-script.ts';
import { makePlan } from '../../../rack/plans.ts';
import { observedFleet, settledFleet, settledValues } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const kept: KeeperSettings = {
  isBridgeRemoved: true,
  wiredMegabytes: 491_520,
  addresses: [
    { receptacle: 2, address: '10.77.0.1', prefixLength: 30 },
    { receptacle: 3, address: '10.77.0.5', prefixLength: 30 },
    { receptacle: 4, address: '10.77.0.9', prefixLength: 30 },
  ],
};

/** The keeper on studio-1 after a complete apply. */
const installed: KeeperObservation = {
  files: [
    { path: keeperProgram.path, digest: textDigest([keepText]), state: 'intact' },
    { path: keeperData.path, digest: textDigest(keeperDataText(kept)), state: 'intact' },
    { path: keeperPlist.path, digest: textDigest(keeperPlistText), state: 'intact' },
  ],
  isLoaded: true,
  isRefused: false,
};

function planWith(keeper: KeeperObservation, changes: Partial<DesiredFleet> = {}): Plan {
  const fleet = settledFleet();
  const values = settledValues();
  const target = nodeName('studio-1');
  return makePlan({
    goal: { kind: 'converge', only: ['keeper'] },
    desired: { ...fleet, system: { ...fleet.system, keeper: 'auto' }, ...changes },
    observation: observedFleet({ values: { ...values, [target]: { ...values[target], keeper } } }),
    targets: [target],
  });
}

const stepsOf = ({ steps }: Plan): readonly string[] => steps.map(({ id }) => id.replace('studio-1/keeper/', ''));

const withFile = (path: string, state: 'changed' | 'missing'): KeeperObservation => ({
  ...installed,
  files: installed.files.map((file) => (file.path === path ? { ...file, state } : file)),
});

describe('the keeper', () => {
  it('needs no change when its files are intact and launchd has loaded it', () => {
    expect(planWith(installed)).toMatchObject({ changes: [], steps: [] });
  });

  it('gets only new data, without a reload, when the settings in the file change', () => {
    const { system } = settledFleet();
    const changed = { system: { ...system, keeper: 'auto', wiredLimit: { kind: 'default' } } } as const;
    expect(stepsOf(planWith(installed, changed))).toEqual(['put-data']);
    expect(stepsOf(planWith(withFile(keeperData.path, 'missing')))).toEqual(['put-data']);
  });

  it('is reloaded when its property list changes', () => {
    const { steps } = planWith(withFile(keeperPlist.path, 'changed'));
    expect(steps.map(({ act }) => act)).toMatchObject([
      { kind: 'put', path: keeperPlist },
      { kind: 'script', name: 'load-keeper', args: { reload: true } },
    ]);
  });

  it('is loaded without rewriting intact files', () => {
    const { steps } = planWith({ ...installed, isLoaded: false });
    expect(steps.map(({ act }) => act)).toEqual([{ kind: 'script', name: 'load-keeper', args: { reload: false } }]);
  });

  it('is removed if the file gives it nothing to maintain', () => {
    const { system, thunderbolt } = settledFleet();
    const { pool: _, ...rest } = thunderbolt;
    const nothing = {
      system: { ...system, keeper: 'auto', wiredLimit: { kind: 'default' } },
      thunderbolt: { ...rest, bridge: 'verify', links: [], networks: {} },
    } as const;
    expect(stepsOf(planWith(installed, nothing))).toEqual(['remove']);
    expect(planWith({ files: [], isLoaded: false, isRefused: false }, nothing).steps).toEqual([]);
  });

  it('stores receptacles by number and netmasks as ifconfig prints them', () => {
    expect(keeperDataText({ isBridgeRemoved: false, wiredMegabytes: 1, addresses: [] })).toEqual(['wired 1\n']);
    expect(keeperDataText(kept)).toEqual([
      'wired 491520\nbridge remove\naddress 2 10.77.0.1 0xfffffffc\naddress 3 10.77.0.5 0xfffffffc\naddress 4 10.77.0.9 0xfffffffc\n',
    ]);
  });
});

onOnePage('keeper');
