import { configured } from '../../model/configd.ts';
import { withMac } from '../../model/fleet.ts';
import { bridgePort, receptaclePort, serviceUuid } from '../../model/interfaces.ts';
import { ipv4Number, maskLength } from '../../model/ip-text.ts';
import type { MacState } from '../../model/mac.ts';
import {
  type NetworkService,
  type ServiceIpv4,
  servicesIn,
  withOrder,
  withoutService,
  withService,
} from '../../model/network-preferences.ts';
import { published, unconfirmed } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

const manual = published(
  'networksetup(8); who is not root is told so on stdout with exit 14, as several public tools expect it',
);

const forms: readonly WriteForm[] = [
  { form: '-setmanual SERVICE ADDRESS MASK ROUTER', match: "5:'-setmanual '*", source: manual },
  {
    form: '-setmanual SERVICE ADDRESS MASK',
    match: "4:'-setmanual '*",
    source: unconfirmed('networksetup -setmanual without a router, as for a cable between two Macs'),
  },
  { form: '-setdhcp SERVICE', match: "2:'-setdhcp '*", source: manual },
  { form: '-setnetworkserviceenabled SERVICE on|off', match: "3:'-setnetworkserviceenabled '*", source: manual },
  {
    form: '-removenetworkservice SERVICE',
    match: "2:'-removenetworkservice '*",
    source: manual,
  },
  {
    form: '-createnetworkservice SERVICE HARDWARE-PORT',
    match: "3:'-createnetworkservice '*",
    source: unconfirmed(
      'networksetup -createnetworkservice says nothing; a name that is taken and an unknown port: exit 4',
    ),
  },
  {
    form: '-ordernetworkservices SERVICE ...',
    match: "*:'-ordernetworkservices '*",
    source: published(
      'networksetup(8); several public scripts and issues quote "Wrong number of network services... No changes have been made."',
    ),
  },
];

/** What a form does: the service after it, or what is wrong with its words. */
type Change =
  | { readonly service: NetworkService; readonly isRemoved?: true }
  | { readonly order: readonly string[] }
  | { readonly wrong: string };

const error = 4;

const notRecognized = (name: string): Change => ({ wrong: `${name} is not a recognized network service.` });

/** The service of this name, changed. */
function changeOf(mac: MacState, name: string, change: (service: NetworkService) => Change): Change {
  const service = servicesIn(mac.preferences).find((one) => one.name === name);
  return service === undefined ? notRecognized(name) : change(service);
}

function manualAddress(service: NetworkService, [address = '', mask = '', router]: readonly string[]): Change {
  const prefixLength = maskLength(mask);
  if (ipv4Number(address) === undefined) return { wrong: `${address} is not a valid IP address.` };
  if (prefixLength === undefined) return { wrong: `${mask} is not a valid subnet mask.` };
  const ipv4: ServiceIpv4 = { kind: 'manual', address, prefixLength, ...(router === undefined ? {} : { router }) };
  return { service: { ...service, ipv4 } };
}

/** The interface behind a hardware port; the bridge is one while the preferences have it. */
function deviceOf(mac: MacState, port: string): string | undefined {
  const receptacle = mac.receptacles.find((one) => receptaclePort(one) === port);
  if (port === bridgePort) return 'bridge0';
  return receptacle?.device ?? mac.ports.find((one) => one.port === port)?.device;
}

function created(mac: MacState, [name = '', port = '']: readonly string[]): Change {
  const device = deviceOf(mac, port);
  if (device === undefined) return { wrong: `${port} is not a recognized hardware port.` };
  if (servicesIn(mac.preferences).some((one) => one.name === name)) {
    return { wrong: `A network service with the name "${name}" already exists.` };
  }
  const uuid = serviceUuid(mac.hardwareUuid, name);
  return { service: { uuid, name, port, device, isEnabled: true, ipv4: { kind: 'dhcp' } } };
}

/** The tool wants the name of every service, each once. */
function ordered(mac: MacState, names: readonly string[]): Change {
  const services = servicesIn(mac.preferences);
  const order = names.flatMap((name) => services.find((one) => one.name === name)?.uuid ?? []);
  if (order.length === names.length && new Set(order).size === services.length && names.length === services.length) {
    return { order };
  }
  const wrong = 'Wrong number of network services... No changes have been made.';
  return { wrong: `${wrong}\nNote: Quotes must be used around service names which contain spaces.` };
}

function changed(mac: MacState, [verb, name = '', ...rest]: readonly string[]): Change | undefined {
  switch (verb) {
    case '-setmanual':
      return changeOf(mac, name, (service) => manualAddress(service, rest));
    case '-setdhcp':
      return changeOf(mac, name, (service) => ({ service: { ...service, ipv4: { kind: 'dhcp' } } }));
    case '-setnetworkserviceenabled':
      if (rest[0] !== 'on' && rest[0] !== 'off') return undefined;
      return changeOf(mac, name, (service) => ({ service: { ...service, isEnabled: rest[0] === 'on' } }));
    case '-removenetworkservice':
      return changeOf(mac, name, (service) => ({ service, isRemoved: true }));
    case '-ordernetworkservices':
      return ordered(mac, [name, ...rest]);
    default:
      return created(mac, [name, ...rest]);
  }
}

/** What an SSH session without Full Disk Access is told (github.com/SQCU/mesh); the exit code is not known. */
const noAccess = 'Unable to access the System Configuration database';

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const change = changed(mac, args);
  if (change === undefined) return undefined;
  if (!isRoot) return { fleet, stdout: lines('** Error: Command requires admin privileges.'), exitCode: 14 };
  if (!mac.ailments.hasFullDiskAccess) return { fleet, stderr: lines(noAccess), exitCode: 1 };
  if ('wrong' in change) {
    return { fleet, stdout: lines(change.wrong, '** Error: The parameters were not valid.'), exitCode: error };
  }
  if ('order' in change) {
    const reordered = (one: MacState): MacState => ({ ...one, preferences: withOrder(one.preferences, change.order) });
    return { fleet: withMac(fleet, mac.name, (one) => configured(reordered(one), [])) };
  }
  const { service, isRemoved } = change;
  const preferencesOf = ({ preferences }: MacState): MacState['preferences'] =>
    isRemoved === true ? withoutService(preferences, service) : withService(preferences, service);
  return {
    fleet: withMac(fleet, mac.name, (one) => configured({ ...one, preferences: preferencesOf(one) }, [service.device])),
  };
}

/** The forms of `networksetup` that change a service. Each also makes configd read the preferences again. */
export const networksetupWrites: Writes = { forms, write };
