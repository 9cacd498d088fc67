import { type Fault, macFault, shownBy } from './fault.ts';
import { aimAtNode } from './fault-targets.ts';
import { bridgeService, withWholeBridge } from './interfaces.ts';
import type { MacState } from './mac.ts';
import { buildOf } from './macos-builds.ts';
import { bridgeIn } from './network-preferences.ts';

/** RDMA was never enabled in Recovery, or an update has switched it off. */
export const rdmaDisabled: Fault = macFault(
  'RDMA is off in NVRAM: no devices here, no RDMA service seen next door',
  aimAtNode,
  (mac) => (mac.isRdmaEnabled ? { ...mac, isRdmaEnabled: false } : 'RDMA is switched off already'),
);

/** Whether each layer of the bridge is there: interface, preferences, service. A service that is off is none. */
const bridgeLayers = (mac: MacState): readonly boolean[] => [
  mac.live.bridge !== undefined,
  bridgeIn(mac.preferences) !== undefined,
  bridgeService(mac)?.isEnabled === true,
];

/** macOS has put the Thunderbolt Bridge together again, in all three layers. */
export const bridgeActive: Fault = shownBy(
  macFault('the Thunderbolt Bridge is back: its members have no address and no GID', aimAtNode, (mac) =>
    bridgeLayers(mac).every((isThere) => isThere) ? 'the bridge is there already' : withWholeBridge(mac),
  ),
  bridgeLayers,
);

/** The last macOS without RDMA over Thunderbolt. */
const oldVersion = '26.1';

/** A Mac that missed the updates. */
export const macosOld: Fault = macFault(
  `macOS ${oldVersion} is installed: it has neither rdma_ctl nor the ibv tools`,
  aimAtNode,
  (mac) =>
    mac.macos.version === oldVersion
      ? 'that is its version already'
      : { ...mac, macos: { version: oldVersion, build: buildOf(oldVersion) } },
);

/** Somebody has reset the energy settings. */
export const powerWrong: Fault = shownBy(
  macFault('the Mac goes to sleep, and its restart after a power loss is turned over', aimAtNode, (mac) => ({
    ...mac,
    power: {
      sleepMinutes: mac.power.sleepMinutes === 10 ? 1 : 10,
      diskSleepMinutes: mac.power.diskSleepMinutes === 10 ? 1 : 10,
      restartsAfterPowerLoss: !mac.model.isLaptop && !mac.power.restartsAfterPowerLoss,
    },
  })),
  ({ power }) => [power.sleepMinutes, power.restartsAfterPowerLoss],
);
