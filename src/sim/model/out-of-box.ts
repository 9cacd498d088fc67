import { loginWindowDomain, softwareUpdateDomain, timeMachineDomain } from './domains.ts';
import { serviceUuid, withWholeBridge } from './interfaces.ts';
import type { MacState } from './mac.ts';
import { emptyPreferences, withService } from './network-preferences.ts';

/** No setting of the network yet but one service on DHCP for each port that is no adapter, and the bridge. */
function preferencesOf({ name, hardwareUuid, ports }: MacState): MacState['preferences'] {
  const empty = emptyPreferences(name, serviceUuid(hardwareUuid, 'set'));
  return ports
    .filter(({ kind }) => kind !== 'adapter')
    .reduce(
      (before, { port, device }) =>
        withService(before, {
          ...{ uuid: serviceUuid(hardwareUuid, port), name: port, port, device },
          isEnabled: true,
          ipv4: { kind: 'dhcp' },
        }),
      empty,
    );
}

/**
 * The Mac as it comes out of its box and through Setup Assistant: the Thunderbolt Bridge with every receptacle in it, each
 * service on DHCP, RDMA off (both Apple TN3205), macOS's settings of power, updates, Spotlight and login, and nothing that
 * `enroll` brings. Account, Remote Login and FileVault are what the person at the keyboard chose: as the file wants them.
 */
export function outOfBox(mac: MacState): MacState {
  const { panics: _, isRdmaWaiting: __, ...kept } = mac;
  return withWholeBridge({
    ...kept,
    isRdmaEnabled: false,
    preferences: preferencesOf(mac),
    live: { addresses: {} },
    domains: { [softwareUpdateDomain]: {}, [loginWindowDomain]: {}, [timeMachineDomain]: {} },
    firewall: 0,
    indexed: ['/', '/System/Volumes/Data'],
    power: { sleepMinutes: 1, diskSleepMinutes: 10, restartsAfterPowerLoss: false },
    wiredLimitMegabytes: 0,
    hasKey: false,
    sudo: 'needs-password',
  });
}
