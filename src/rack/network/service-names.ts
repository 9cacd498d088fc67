import type { Facts } from '../../model/facts/fact-values.ts';
import { read } from '../fact.ts';
import { networkServicesFact } from './network-services-fact.ts';

/** People rename services, and macOS names them in its own language; the name goes into a command between quotes. */
const safeName = /^[\p{L}\p{N}][\p{L}\p{N} ._/-]{0,63}$/u;

/** Whether the name of a network service can be typed into a command as it is. */
export const isSafeServiceName = (name: string): boolean => safeName.test(name);

/**
 * The network service through which an interface is set up. A service has a name of its own, which is only by
 * default that of its hardware port, and a device may have several of which the first enabled one counts.
 */
export type ServiceOfDevice =
  | { readonly kind: 'named'; readonly name: string; readonly isEnabled: boolean }
  /** It has a name that comes into no command. */
  | { readonly kind: 'unsafe' }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** Finds the service of a device (`en4`). @see networksetup(8), `-listnetworkserviceorder` */
export function serviceOfDevice(facts: Facts, device: string): ServiceOfDevice {
  const services = read(facts, networkServicesFact);
  if (services.kind === 'unknown') {
    return { kind: 'unknown' };
  }
  const own = services.value.filter((one) => one.device === device);
  const service = own.find((one) => one.isEnabled) ?? own[0];
  if (service === undefined) {
    return { kind: 'none' };
  }
  const { name, isEnabled } = service;
  return isSafeServiceName(name) ? { kind: 'named', name, isEnabled } : { kind: 'unsafe' };
}
