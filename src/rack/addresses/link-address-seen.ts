import type { Facts, Ipv4Address } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { read } from '../fact.ts';
import { serviceAddressesFact } from '../network/service-addresses-fact.ts';
import { serviceOf } from '../network/services.ts';
import { hardwarePortsFact, networkServicesFact } from '../network/services-fact.ts';
import { thunderboltInterfaces } from '../network/thunderbolt-interfaces.ts';

/** Each receptacle's interface, or why it is unknown. */
export function receptacleDevices(facts: Facts): Known<ReadonlyMap<number, string>> {
  const ports = read(facts, hardwarePortsFact);
  const devices = thunderboltInterfaces(facts);
  if (ports.kind === 'unknown') return ports;
  return devices === undefined ? unknown('garbled', 'no hardware port is a Thunderbolt receptacle') : known(devices);
}

/** The source of a device's address at every boot. */
export type KeptAddress =
  /** It has no service, or a disabled one. */
  | { readonly kind: 'none' }
  | { readonly kind: 'manual'; readonly address: Ipv4Address }
  | { readonly kind: 'dhcp' | 'off' | 'other' };

/** The address that the network preferences give a receptacle's device. */
export function keptAddress(facts: Facts, device: string): Known<KeptAddress> {
  const services = read(facts, networkServicesFact);
  const addresses = read(facts, serviceAddressesFact);
  if (services.kind === 'unknown') return services;
  if (addresses.kind === 'unknown') return addresses;
  const service = serviceOf(services.value, device);
  if (service?.isEnabled !== true) return known({ kind: 'none' });
  const kept = addresses.value.find((one) => one.device === device && one.service === service.name);
  if (kept?.method === 'manual' && kept.address !== undefined) return known({ kind: 'manual', address: kept.address });
  return known({ kind: kept?.method === 'dhcp' || kept?.method === 'off' ? kept.method : 'other' });
}
