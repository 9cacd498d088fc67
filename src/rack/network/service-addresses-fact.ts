import type { Ipv4Address, NetworkService, ServiceAddress } from '../../model/facts/fact-values.ts';
import { type Known, known } from '../../model/known.ts';
import { compareText } from '../../model/lists.ts';
import { isBsdName, isIpv4, isName, isUuid, prefixOfMask } from '../../node/answers/grammar.ts';
import { asList, asObject, garbled, type JsonObject, textOf } from '../../node/answers/read-answer.ts';
import { readPlist } from '../../node/answers/read-plist.ts';
import { place, tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact } from '../fact.ts';
import { networkServicesFact, serviceOrder } from './services-fact.ts';

/** The network services with their addresses after the next boot, as XML because JSON cannot contain a certificate. */
const networkServicesKey = probe(
  'network-services-key',
  [tool.plutil, '-extract', 'NetworkServices', 'xml1', '-o', '-', place.networkPreferences],
  5_000,
  262_144,
);

/**
 * The IPv4 method and address of each network service with a device, from a property list equivalent to
 *
 *     {"UUID":{"Interface":{"DeviceName":"en2","Type":"Ethernet"},"IPv4":{"ConfigMethod":"Manual",
 *       "Addresses":["10.77.0.1"],"SubnetMasks":["255.255.255.252"]},"UserDefinedName":"Thunderbolt 1"}}
 *
 * Every service with a device in the service order has to be present. The preferences have the services of every location:
 * if one name and device has two different addresses, two locations disagree, and the valid location is unknown.
 *
 * The keys are those of Apple's SCSchemaDefinitions.h. A complete list has not been captured on a Mac.
 */
export const serviceAddressesFact = defineFact({
  name: 'service-addresses',
  from: [networkServicesKey, serviceOrder],
  parse: ([answer, orderAnswer], asked): Known<readonly ServiceAddress[]> => {
    const list = readPlist(answer);
    if (list.kind === 'unknown') return list;
    const order = networkServicesFact.parse([orderAnswer], asked);
    if (order.kind === 'unknown') return order;
    const services = Object.entries(asObject(list.value) ?? {});
    if (asObject(list.value) === undefined) return garbled(answer, 'described no network services');
    const found = new Map<string, ServiceAddress>();
    for (const [uuid, value] of services) {
      const service = asObject(value);
      const read = service === undefined || !isUuid(uuid) ? undefined : serviceOf(service, order.value);
      if (read === undefined) return garbled(answer, 'described an unreadable network service');
      if (read === 'without-device') continue;
      const key = `${read.device} ${read.service}`;
      const before = found.get(key) ?? read;
      if (before.method !== read.method || !isSameAddress(before, read)) {
        return garbled(answer, `described ${read.service} twice, with different addresses`);
      }
      found.set(key, read);
    }
    const read = [...found.values()];
    const lacking = order.value.find(({ name, device }) => device !== undefined && !found.has(`${device} ${name}`));
    return lacking === undefined ? known(read.sort(byDevice)) : garbled(answer, `did not describe ${lacking.name}`);
  },
  text: (addresses) => [
    addresses.map(({ service, device, method, address, router }) => {
      const words = { dhcp: 'by DHCP', manual: 'fixed', off: 'IPv4 off', other: 'by another method' }[method];
      const over = router === undefined ? '' : ` router ${router}`;
      const fixed = address === undefined ? words : `${address.address}/${address.prefixLength}${over}`;
      return `${service} ${device} ${fixed}`;
    }),
  ],
});

function serviceOf(
  service: JsonObject,
  order: readonly NetworkService[],
): ServiceAddress | 'without-device' | undefined {
  const port = asObject(service['Interface']);
  if (port === undefined) return undefined;
  // A VPN has an interface without a device.
  if (!Object.hasOwn(port, 'DeviceName')) return 'without-device';
  const device = textOf(port, 'DeviceName') ?? '';
  const name = Object.hasOwn(service, 'UserDefinedName')
    ? textOf(service, 'UserDefinedName')
    : onlyNameOf(device, order);
  if (name === undefined || !isName(name) || !isBsdName(device)) return undefined;
  const ipv4 = Object.hasOwn(service, 'IPv4') ? asObject(service['IPv4']) : {};
  if (ipv4 === undefined) return undefined;
  const settings = settingsOf(ipv4);
  return settings === undefined ? undefined : { service: name, device, ...settings };
}

/** The name that macOS shows for a service without a user-defined name. */
function onlyNameOf(device: string, order: readonly NetworkService[]): string | undefined {
  const names = order.filter((one) => one.device === device).map(({ name }) => name);
  return names.length === 1 ? names[0] : undefined;
}

/** Without IPv4, `__INACTIVE__` is next to the method (configd). meshwright never sets several addresses. */
function settingsOf(ipv4: JsonObject): Pick<ServiceAddress, 'method' | 'address' | 'router'> | undefined {
  if (Object.hasOwn(ipv4, '__INACTIVE__')) return { method: ipv4['__INACTIVE__'] === 1 ? 'off' : 'other' };
  const method = Object.hasOwn(ipv4, 'ConfigMethod') ? textOf(ipv4, 'ConfigMethod') : 'none';
  if (method === undefined) return undefined;
  if (method !== 'Manual') return { method: method === 'DHCP' ? 'dhcp' : 'other' };
  const addresses = asList(ipv4['Addresses']);
  const masks = asList(ipv4['SubnetMasks']);
  if (addresses === undefined || masks === undefined || addresses.length === 0) return undefined;
  if (addresses.length > 1) return { method: 'other' };
  const address = addressOf(addresses[0], masks[0]);
  const router = Object.hasOwn(ipv4, 'Router') ? ipv4['Router'] : '';
  if (address === undefined || typeof router !== 'string' || !(router === '' || isIpv4(router))) return undefined;
  return { method: 'manual', address, ...(router === '' ? {} : { router }) };
}

function addressOf(address: unknown, mask: unknown): Ipv4Address | undefined {
  if (typeof address !== 'string' || typeof mask !== 'string' || !isIpv4(address) || !isIpv4(mask)) return undefined;
  const prefixLength = prefixOfMask(mask.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0));
  return prefixLength === undefined ? undefined : { address, prefixLength };
}

/** Compares the fixed addresses of two services, whatever their methods. */
export const isSameAddress = (one: ServiceAddress, other: ServiceAddress): boolean =>
  one.router === other.router &&
  one.address?.address === other.address?.address &&
  one.address?.prefixLength === other.address?.prefixLength;

const byDevice = (one: ServiceAddress, other: ServiceAddress): number =>
  compareText(`${one.device} ${one.service}`, `${other.device} ${other.service}`);
