/** Network changes of one node, and the state of its network. */

import type { RunTiming } from '../../src/apply/run-timing.ts';
import type { NetworkCall } from '../../src/model/node-script.ts';
import type { Step } from '../../src/model/step.ts';
import { aStep } from '../rack/plans.ts';
import { eventually, type RunningRack, sh } from '../rack/running.ts';
import { planOf, quickTiming, runOptions } from './apply-rack.ts';
import { ours } from './apply-steps.ts';
import { runPlan } from './run-plan.ts';

export const pendingFile = `${ours}/transaction/pending/about`;
const transactionPlist = '/Library/LaunchDaemons/dev.meshwright.transaction.plist';

/** A rollback delay that a test can wait for. */
export const shortRollback: RunTiming = { ...quickTiming, heartbeatMs: 100, rollbackAfterMs: 1_500 };

/** A rollback delay long enough for a confirmation on a busy machine, and short enough for a test to wait for. */
export const confirmable: RunTiming = { ...quickTiming, rollbackAfterMs: 12_000 };

/** The deadline of an answer. After the rollback delay, the node is asked again with the same deadline. */
export const observeMs = 5_000;

/** Sets the address of receptacle 2 of a Studio, whose interface is en3. */
export const addressChange = (
  to: string,
  service = 'Thunderbolt 2',
): Extract<NetworkCall, { name: 'set-link-address' }> => ({
  name: 'set-link-address',
  args: { service, hardwarePort: 'Thunderbolt 2', device: 'en3', address: to, prefixLength: 30, create: true },
});

export const removal: NetworkCall = {
  name: 'remove-bridge',
  args: { bridge: 'bridge0', members: ['en2', 'en3', 'en4', 'en5', 'en6', 'en7'], services: ['Thunderbolt Bridge'] },
};

/** Moves Ethernet to the last place. */
export const order: NetworkCall = { name: 'order-services', args: { last: ['en3', 'en4', 'en0'] } };

export const clearing: NetworkCall = {
  name: 'clear-link-address',
  args: { service: 'Thunderbolt 2', hardwarePort: 'Thunderbolt 2', device: 'en3', addresses: ['10.77.0.1'] },
};

export const transaction = (id: string, node: string, call: NetworkCall): Step =>
  aStep(id, { node, act: { kind: 'transaction', ...call } });

const otherOrder: NetworkCall = { name: 'order-services', args: { last: ['en5', 'en6'] } };

/** True if this script makes a change or confirms it. */
export const isChange = (input: string): boolean => input.includes('arm "$q"');
export const isConfirmation = (input: string): boolean => input.includes('"$rb/confirmed"');

/** Restores the initial state for a change; returns the state of the network. */
export async function beginChange(rack: RunningRack, node: string, call: NetworkCall): Promise<string> {
  await rack.fleet.clearFault([]);
  const isOfNew = call.name === 'set-link-address' && call.args.service !== 'Thunderbolt 2';
  const tidy = `n=$R/usr/sbin/networksetup
"$n" -removenetworkservice 'Cable 2'
"$n" ${isOfNew ? '-removenetworkservice' : "-createnetworkservice 'Thunderbolt 2'"} 'Thunderbolt 2'
"$n" -setmanual 'Thunderbolt 2' 10.77.0.1 255.255.255.252
"$n" -setmanual 'Thunderbolt 3' 10.77.0.5 255.255.255.252`;
  await sh(rack.fleet, node, tidy);
  if (call.name === 'order-services') await runPlan(planOf([transaction('begin', node, otherOrder)]), runOptions(rack));
  if (call.name === 'remove-bridge') await rack.fleet.setFault(['bridge-active', node]);
  return networkOf(rack, node);
}

/** Everything that network changes affect, as shown by the tools of the node. */
export async function networkOf(rack: RunningRack, node: string): Promise<string> {
  const tools = [
    '"$R/sbin/ifconfig" -a',
    '"$R/usr/sbin/networksetup" -listnetworkserviceorder',
    '"$R/usr/sbin/networksetup" -getinfo "Thunderbolt 2"',
  ];
  const seen = await sh(rack.fleet, node, tools.join('; '), 'user');
  return `${seen.stdout}\n${rack.read(node, '/Library/Preferences/SystemConfiguration/preferences.plist') ?? ''}`;
}

/** Waits until no change waits for a confirmation and launchd has unloaded the rollback; false after a timeout. */
export const isSettled = (rack: RunningRack, node: string): Promise<boolean> =>
  eventually(() => {
    const isLoaded = rack.fleet
      .processes()
      .some((one) => one.node === node && one.label === 'dev.meshwright.transaction');
    return rack.read(node, pendingFile) === undefined && rack.read(node, transactionPlist) === undefined && !isLoaded;
  });
