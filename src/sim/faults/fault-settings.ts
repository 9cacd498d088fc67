import type { MacState } from '../model/fleet.ts';
import { buildOf } from '../model/macos-builds.ts';
import { bridgeIn, bridgeService, withWholeBridge } from '../model/network.ts';
import { defineMacFault, type Fault } from './fault.ts';

/** Whether each layer of the bridge is there: interface, preferences, service. A service that is off is none. */
const bridgeLayers = (mac: MacState): readonly boolean[] => [
  mac.live.bridge !== undefined,
  bridgeIn(mac.preferences) !== undefined,
  bridgeService(mac)?.isEnabled === true,
];

/** A Mac with this macOS instead of its own. */
const defineMacos = (summary: string, version: string): Fault =>
  defineMacFault(summary, (mac) =>
    mac.macos.version === version
      ? 'that is its version already'
      : { ...mac, macos: { version, build: buildOf(version) } },
  );

/** What is wrong with the settings of a Mac. */
export const settingFaults = {
  /** RDMA was never enabled, or an update has switched it off. */
  'rdma-disabled': defineMacFault('RDMA is off in NVRAM: no devices here, no RDMA service seen next door', (mac) =>
    mac.isRdmaEnabled ? { ...mac, isRdmaEnabled: false } : 'RDMA is switched off already',
  ),

  /** RDMA was switched on in System Settings, where the switch of macOS 27 is too, and the Mac has not restarted since. */
  'rdma-waiting': defineMacFault(
    'RDMA was switched on after the last start: no devices here until the Mac restarts',
    (mac) =>
      mac.isRdmaWaiting === true
        ? 'its RDMA waits for a restart already'
        : { ...mac, isRdmaEnabled: true, isRdmaWaiting: true },
  ),

  /** macOS has put the Thunderbolt Bridge together again, in all three layers. */
  'bridge-active': defineMacFault(
    'the Thunderbolt Bridge is back: its members have no address and no GID',
    (mac) => (bridgeLayers(mac).every((isThere) => isThere) ? 'the bridge is there already' : withWholeBridge(mac)),
    bridgeLayers,
  ),

  /** A Mac that missed the updates: the last macOS without RDMA over Thunderbolt. */
  'macos-old': defineMacos('macOS 26.1 is installed: it has neither rdma_ctl nor the ibv tools', '26.1'),

  /** A Mac that has updated itself, or a new one beside older ones. */
  'macos-new': defineMacos('macOS 27.2 is installed, newer than on the other Macs', '27.2'),

  /** Somebody has reset the energy settings. */
  'power-wrong': defineMacFault(
    'the Mac goes to sleep, and its restart after a power loss is turned over',
    (mac) => ({
      ...mac,
      power: {
        sleepMinutes: mac.power.sleepMinutes === 10 ? 1 : 10,
        diskSleepMinutes: mac.power.diskSleepMinutes === 10 ? 1 : 10,
        restartsAfterPowerLoss: !mac.model.isLaptop && !mac.power.restartsAfterPowerLoss,
      },
    }),
    ({ power }) => [power.sleepMinutes, power.restartsAfterPowerLoss],
  ),
};
