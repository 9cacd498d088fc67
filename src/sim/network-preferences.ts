import { type ServiceState, servicesOf } from './interfaces.ts';
import { dottedMask } from './ip-text.ts';
import type { MacState } from './mac.ts';
import { type PlistValue, plistText } from './plist.ts';
import { seededUuid } from './seed.ts';

/** Stable for the Mac and the service, as the UUIDs of real preferences are. */
const uuidOf = (mac: MacState, name: string): string => seededUuid([mac.hardwareUuid, 'service', name]);

function ipv4(service: ServiceState): PlistValue {
  const config = service.receptacle?.config;
  if (config?.kind !== 'manual') return { ConfigMethod: 'DHCP' };
  return {
    Addresses: [config.address],
    ConfigMethod: 'Manual',
    SubnetMasks: [dottedMask(config.prefixLength)],
  };
}

function serviceEntry(service: ServiceState): PlistValue {
  return {
    ...(service.isEnabled ? {} : { __INACTIVE__: 1 }),
    IPv4: ipv4(service),
    IPv6: { ConfigMethod: 'Automatic' },
    Interface: {
      DeviceName: service.device,
      Hardware: service.port === 'Wi-Fi' ? 'AirPort' : 'Ethernet',
      Type: 'Ethernet',
      UserDefinedName: service.port,
    },
    UserDefinedName: service.name,
  };
}

function virtualInterfaces(mac: MacState): Readonly<Record<string, PlistValue>> {
  const bridge0 = {
    Interfaces: mac.receptacles.map(({ device }) => device),
    Options: { __AUTO__: 'thunderbolt-bridge' },
  };
  switch (mac.bridge.preferences) {
    case 'listed':
      return { VirtualNetworkInterfaces: { Bridge: { bridge0 } } };
    case 'emptied':
      return { VirtualNetworkInterfaces: { Bridge: {} } };
    case 'never-written':
      return {};
  }
}

/** `/Library/Preferences/SystemConfiguration/preferences.plist`: services, their order, and the bridges. */
export function networkPreferences(mac: MacState): string {
  const services = servicesOf(mac);
  const set = uuidOf(mac, 'set');
  const order = services.map(({ name }) => uuidOf(mac, name));
  return plistText({
    CurrentSet: `/Sets/${set}`,
    NetworkServices: Object.fromEntries(services.map((one) => [uuidOf(mac, one.name), serviceEntry(one)])),
    Sets: { [set]: { Network: { Global: { IPv4: { ServiceOrder: order } } }, UserDefinedName: 'Automatic' } },
    System: {
      Network: { HostNames: { LocalHostName: mac.name } },
      System: { ComputerName: mac.name, ComputerNameEncoding: 0 },
    },
    ...virtualInterfaces(mac),
  });
}
