import type { Ailments, MacState } from '../model/fleet.ts';
import { bridgeService, withWholeBridge } from '../model/interfaces.ts';
import { buildOf } from '../model/macos-builds.ts';
import { bridgeIn } from '../model/network-preferences.ts';
import { aimAtNode, defineFault, type Fault, macFault, shownBy } from './fault.ts';

const ailing = (mac: MacState, ailments: Partial<Ailments>): MacState => ({
  ...mac,
  ailments: { ...mac.ailments, ...ailments },
});

/** A kernel panic. It is over when the Mac is there again; its report stays. */
export const crash = defineFault(
  'crash',
  shownBy(
    macFault('the kernel panics: the Mac goes down at once, and starts again by itself', aimAtNode, (mac) =>
      mac.ailments.panic === undefined ? ailing(mac, { panic: 'crash' }) : 'it goes down already',
    ),
    ({ ailments }) => ailments.panic,
  ),
);

/** Somebody pulled the plug, or the house has no current. It comes back with the current where pmset says so. */
export const powerCut = defineFault(
  'power-cut',
  shownBy(
    macFault(
      'the current is gone; with it back the Mac starts by itself if autorestart is on, else by its button',
      aimAtNode,
      (mac) => (mac.ailments.lacksCurrent ? 'it has no current already' : ailing(mac, { lacksCurrent: true })),
    ),
    ({ ailments }) => ailments.lacksCurrent,
  ),
);

/** What was told of TCP under load over Thunderbolt: panics in the driver of IP over Thunderbolt. */
export const tcpLoadPanic = defineFault(
  'tcp-load-panic',
  shownBy(
    macFault('the kernel panics as soon as ranks send TCP over its cables', aimAtNode, (mac) =>
      mac.ailments.panicsUnderTcp ? 'it does so already' : ailing(mac, { panicsUnderTcp: true }),
    ),
    ({ ailments }) => ailments.panicsUnderTcp,
  ),
);

/** RDMA was never enabled, or an update has switched it off. */
export const rdmaDisabled = defineFault(
  'rdma-disabled',
  macFault('RDMA is off in NVRAM: no devices here, no RDMA service seen next door', aimAtNode, (mac) =>
    mac.isRdmaEnabled ? { ...mac, isRdmaEnabled: false } : 'RDMA is switched off already',
  ),
);

/** RDMA was switched on in System Settings, where the switch of macOS 27 is too, and the Mac has not restarted since. */
export const rdmaWaiting = defineFault(
  'rdma-waiting',
  macFault('RDMA was switched on after the last start: no devices here until the Mac restarts', aimAtNode, (mac) =>
    mac.isRdmaWaiting === true
      ? 'its RDMA waits for a restart already'
      : { ...mac, isRdmaEnabled: true, isRdmaWaiting: true },
  ),
);

/** Whether each layer of the bridge is there: interface, preferences, service. A service that is off is none. */
const bridgeLayers = (mac: MacState): readonly boolean[] => [
  mac.live.bridge !== undefined,
  bridgeIn(mac.preferences) !== undefined,
  bridgeService(mac)?.isEnabled === true,
];

/** macOS has put the Thunderbolt Bridge together again, in all three layers. */
export const bridgeActive = defineFault(
  'bridge-active',
  shownBy(
    macFault('the Thunderbolt Bridge is back: its members have no address and no GID', aimAtNode, (mac) =>
      bridgeLayers(mac).every((isThere) => isThere) ? 'the bridge is there already' : withWholeBridge(mac),
    ),
    bridgeLayers,
  ),
);

/** A Mac with this macOS instead of its own. */
const otherMacos = (summary: string, version: string): Fault =>
  macFault(summary, aimAtNode, (mac) =>
    mac.macos.version === version
      ? 'that is its version already'
      : { ...mac, macos: { version, build: buildOf(version) } },
  );

/** A Mac that missed the updates: the last macOS without RDMA over Thunderbolt. */
export const macosOld = defineFault(
  'macos-old',
  otherMacos('macOS 26.1 is installed: it has neither rdma_ctl nor the ibv tools', '26.1'),
);

/** A Mac that has updated itself, or a new one beside older ones. */
export const macosNew = defineFault(
  'macos-new',
  otherMacos('macOS 27.2 is installed, newer than on the other Macs', '27.2'),
);

/** Somebody has reset the energy settings. */
export const powerWrong = defineFault(
  'power-wrong',
  shownBy(
    macFault('the Mac goes to sleep, and its restart after a power loss is turned over', aimAtNode, (mac) => ({
      ...mac,
      power: {
        sleepMinutes: mac.power.sleepMinutes === 10 ? 1 : 10,
        diskSleepMinutes: mac.power.diskSleepMinutes === 10 ? 1 : 10,
        restartsAfterPowerLoss: !mac.model.isLaptop && !mac.power.restartsAfterPowerLoss,
      },
    })),
    ({ power }) => [power.sleepMinutes, power.restartsAfterPowerLoss],
  ),
);
