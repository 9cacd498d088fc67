import { linkAddresses } from '../../desired/addresses.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, Ipv4Address } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import type { LinkEnd } from '../../model/node.ts';
import { isSameEnd } from '../cabling/receptacle-view.ts';
import { read, readValue } from '../fact.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { thunderboltInterfaces } from '../network/interfaces-reading.ts';
import { serviceAddressesFact } from '../network/service-addresses-fact.ts';
import { hardwarePortsFact, networkServicesFact } from '../network/services-fact.ts';
import { serviceOf } from '../network/services-reading.ts';

export function receptacleDevices(facts: Facts): Known<ReadonlyMap<number, string>> {
  const ports = read(facts, hardwarePortsFact);
  const devices = thunderboltInterfaces(facts);
  if (ports.kind === 'unknown') return ports;
  return devices === undefined ? unknown('garbled', 'no hardware port is a Thunderbolt receptacle') : known(devices);
}

/** The source of a device's address at every boot. */
export type StoredAddress =
  /** It has no service, or a disabled one. */
  | { readonly kind: 'none' }
  | { readonly kind: 'manual'; readonly address: Ipv4Address }
  | { readonly kind: 'dhcp' | 'off' | 'other' };

/** The address that the network preferences give a receptacle's device. */
export function storedAddress(facts: Facts, device: string): Known<StoredAddress> {
  const services = read(facts, networkServicesFact);
  const addresses = read(facts, serviceAddressesFact);
  if (services.kind === 'unknown') return services;
  if (addresses.kind === 'unknown') return addresses;
  const service = serviceOf(services.value, device);
  if (service?.isEnabled !== true) return known({ kind: 'none' });
  const found = addresses.value.find((one) => one.device === device && one.service === service.name);
  if (found?.method === 'manual' && found.address !== undefined)
    return known({ kind: 'manual', address: found.address });
  return known({ kind: found?.method === 'dhcp' || found?.method === 'off' ? found.method : 'other' });
}

/** The address that the file gives to one end of a link; undefined until its network is allocated. */
export const declaredAddress = (thunderbolt: DesiredFleet['thunderbolt'], end: LinkEnd): string | undefined =>
  linkAddresses(thunderbolt).find((one) => isSameEnd(one.end, end))?.address;

/** A link's address on an interface other than the one that its receptacle has now. */
interface LeftBehind {
  readonly address: string;
  readonly device: string;
  /** The Thunderbolt interface that still has the address. */
  readonly on: string;
}

/** The address of this end of a link, if another Thunderbolt interface has it and the end's own does not. */
export function leftBehind({ thunderbolt }: DesiredFleet, facts: Facts, end: LinkEnd): LeftBehind | undefined {
  const address = declaredAddress(thunderbolt, end);
  const devices = thunderboltInterfaces(facts);
  const device = devices?.get(end.receptacle);
  if (address === undefined || devices === undefined || device === undefined) return undefined;
  const names = [...devices.values()];
  const holders = (readValue(facts, interfacesFact) ?? [])
    .filter(({ name, ipv4 }) => names.includes(name) && ipv4.some((one) => one.address === address))
    .map(({ name }) => name);
  const [on] = holders;
  return on === undefined || holders.includes(device) ? undefined : { address, device, on };
}
