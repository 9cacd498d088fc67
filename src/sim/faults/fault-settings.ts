import type { MacState } from '../model/fleet.ts';
import { buildOf } from '../model/macos-builds.ts';
import { bridgeIn, bridgeService, withWholeBridge } from '../model/network.ts';
import { defineMacFault, type Fault } from './fault.ts';

/** Whether each of the bridge's layers exists: interface, preferences, service. A disabled service does not count. */
const bridgeLayers = (mac: MacState): readonly boolean[] => [
  mac.live.bridge !== undefined,
  bridgeIn(mac.preferences) !== undefined,
  bridgeService(mac)?.isEnabled === true,
];

const defineMacos = (summary: string, version: string): Fault =>
  defineMacFault(summary, (mac) =>
    mac.macos.version === version
      ? 'the Mac already has this version'
      : { ...mac, macos: { version, build: buildOf(version) } },
  );

export const settingFaults = {
  /** RDMA was never enabled, or an update has disabled it. */
  'rdma-disabled': defineMacFault('RDMA is off in NVRAM: no devices here, and neighbors see no RDMA service', (mac) =>
    mac.isRdmaEnabled ? { ...mac, isRdmaEnabled: false } : 'RDMA is already off',
  ),

  /** RDMA was enabled in System Settings (macOS 27 has the switch), and the Mac has not restarted since. */
  'rdma-waiting': defineMacFault('RDMA was enabled after the last boot: no devices until the Mac restarts', (mac) =>
    mac.isRdmaWaiting === true
      ? 'RDMA is already waiting for a restart'
      : { ...mac, isRdmaEnabled: true, isRdmaWaiting: true },
  ),

  /** macOS has recreated the Thunderbolt Bridge in all three layers. */
  'bridge-active': defineMacFault(
    'the Thunderbolt Bridge is back: its members have no address and no GID',
    (mac) => (bridgeLayers(mac).every((isThere) => isThere) ? 'the bridge already exists' : withWholeBridge(mac)),
    bridgeLayers,
  ),

  /** A Mac without updates: the last macOS without RDMA over Thunderbolt. */
  'macos-old': defineMacos('macOS 26.1 is installed: it has neither rdma_ctl nor the ibv tools', '26.1'),

  /** A Mac that updated itself, or a newer Mac among older ones. */
  'macos-new': defineMacos('macOS 27.2 is installed, newer than on the other Macs', '27.2'),

  'power-wrong': defineMacFault(
    'the Mac goes to sleep, and its setting for restarts after a power loss is inverted',
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
