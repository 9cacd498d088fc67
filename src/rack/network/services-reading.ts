import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, NetworkService, ServiceAddress } from '../../model/facts/fact-values.ts';
import { type Known, known, mapKnown, unknown } from '../../model/known.ts';
import { read, readValue } from '../fact.ts';
import { keeperFact } from '../keeper/fact.ts';
import { thunderboltInterfaces } from './interfaces-reading.ts';
import { serviceAddressesFact } from './service-addresses-fact.ts';
import { hardwarePortsFact, networkServicesFact } from './services-fact.ts';

/**
 * The IPv4 method of the enabled service of a receptacle's interface; `none` without such a service. `other` if the
 * keeper sets the addresses: then the interface has its address whatever the service is set to.
 */
export function cableMethod(
  desired: DesiredFleet,
  facts: Facts,
  device: string,
): ServiceAddress['method'] | 'none' | 'unknown' {
  if (isLeftToKeeper(desired, facts)) return 'other';
  const services = readValue(facts, networkServicesFact);
  const addresses = readValue(facts, serviceAddressesFact);
  if (services === undefined || addresses === undefined) return 'unknown';
  const service = services.find((one) => one.device === device && one.isEnabled);
  return addresses.find((one) => one.device === device && one.service === service?.name)?.method ?? 'none';
}

/**
 * True if macOS lets no ssh session change this Mac's network preferences (no Full Disk Access). Then the keeper
 * maintains everything that does not need the preferences. False if the file wants no keeper.
 */
export const isLeftToKeeper = ({ system }: Pick<DesiredFleet, 'system'>, facts: Facts): boolean =>
  system.keeper !== undefined && readValue(facts, keeperFact)?.isRefused === true;

/** People rename services, and macOS names services in the system language. Commands contain the name in quotes. */
const safeName = /^[\p{L}\p{N}][\p{L}\p{N} ._/-]{0,63}$/u;

export const isSafeServiceName = (name: string): boolean => safeName.test(name);

/**
 * The network service that configures a device, if there is one. If there are several, the first enabled one counts.
 * @see networksetup(8), `-listnetworkserviceorder`
 */
export function serviceOf(services: readonly NetworkService[], device: string): NetworkService | undefined {
  const own = services.filter((one) => one.device === device);
  return own.find((one) => one.isEnabled) ?? own[0];
}

/**
 * The network service that configures an interface. A service's name equals its hardware port's name only by default. A
 * device may have several services; the first enabled one counts.
 */
type ServiceOfDevice =
  | { readonly kind: 'named'; readonly name: string; readonly isEnabled: boolean }
  /** Its name is unsafe in a command. */
  | { readonly kind: 'unsafe' }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** Finds the service of a device (`en4`). @see networksetup(8), `-listnetworkserviceorder` */
export function serviceOfDevice(facts: Facts, device: string): ServiceOfDevice {
  const services = read(facts, networkServicesFact);
  if (services.kind === 'unknown') return { kind: 'unknown' };
  const service = serviceOf(services.value, device);
  if (service === undefined) return { kind: 'none' };
  const { name, isEnabled } = service;
  return isSafeServiceName(name) ? { kind: 'named', name, isEnabled } : { kind: 'unsafe' };
}

/** The interfaces whose services come after all others: the receptacles and the Thunderbolt Bridge. */
export function thunderboltDevices(facts: Facts): Known<readonly string[]> {
  const ports = read(facts, hardwarePortsFact);
  const services = read(facts, networkServicesFact);
  const receptacles = thunderboltInterfaces(facts);
  if (ports.kind === 'unknown') return ports;
  if (services.kind === 'unknown') return services;
  if (receptacles === undefined) return unknown('garbled', 'no hardware port is a Thunderbolt receptacle');
  const bridges = services.value.filter(({ port }) => port === 'Thunderbolt Bridge');
  return known([...receptacles.values(), ...bridges.flatMap(({ device }) => device ?? [])]);
}

interface Misplaced {
  readonly service: NetworkService;
  /** The name of the next service that does not belong to a cable. */
  readonly before: string;
}

/** The cables' services that come before another service. Disabled services and VPNs without a device are ignored. */
export function misplacedServices(facts: Facts): Known<readonly Misplaced[]> {
  return mapKnown(thunderboltDevices(facts), (devices) => {
    const listed = (readValue(facts, networkServicesFact) ?? []).filter(({ isEnabled }) => isEnabled);
    const isCable = ({ device }: NetworkService): boolean => device !== undefined && devices.includes(device);
    return listed.flatMap((service, at) => {
      const next = listed.slice(at + 1).find((one) => one.device !== undefined && !isCable(one));
      return isCable(service) && next !== undefined ? [{ service, before: next.name }] : [];
    });
  });
}

/** `Thunderbolt 1 before Wi-Fi and 2 more`; `after all others` if nothing is misplaced. */
export function orderWords([first, ...more]: readonly Misplaced[]): string {
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  return first === undefined ? 'after all others' : `${first.service.name} before ${first.before}${others}`;
}
