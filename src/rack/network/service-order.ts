import type { Facts, NetworkService } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { read } from '../fact.ts';
import { hardwarePortsFact } from './hardware-ports-fact.ts';
import { networkServicesFact } from './network-services-fact.ts';
import { thunderboltInterfaces } from './thunderbolt-interfaces.ts';

/** The interfaces whose services belong behind all others: the receptacles, and the Thunderbolt Bridge. */
export function thunderboltDevices(facts: Facts): Known<readonly string[]> {
  const ports = read(facts, hardwarePortsFact);
  const services = read(facts, networkServicesFact);
  const receptacles = thunderboltInterfaces(facts);
  if (ports.kind === 'unknown') {
    return ports;
  }
  if (services.kind === 'unknown') {
    return services;
  }
  if (receptacles === undefined) {
    return unknown('garbled', 'no hardware port is a Thunderbolt receptacle');
  }
  const bridges = services.value.filter(({ port }) => port === 'Thunderbolt Bridge');
  return known([...receptacles.values(), ...bridges.flatMap(({ device }) => device ?? [])]);
}

/** One service of a cable that macOS tries before one that is no cable. */
export interface Misplaced {
  readonly service: NetworkService;
  /** The next one behind it that is no cable. */
  readonly before: string;
}

/** The services of cables that stand before another one; those that are switched off, and VPNs without a device, count for nothing. */
export function misplacedServices(facts: Facts): Known<readonly Misplaced[]> {
  const devices = thunderboltDevices(facts);
  const services = read(facts, networkServicesFact);
  if (devices.kind === 'unknown') {
    return devices;
  }
  const listed = services.kind === 'known' ? services.value.filter(({ isEnabled }) => isEnabled) : [];
  const isCable = ({ device }: NetworkService): boolean => device !== undefined && devices.value.includes(device);
  return known(
    listed.flatMap((service, at) => {
      const next = listed.slice(at + 1).find((one) => one.device !== undefined && !isCable(one));
      return isCable(service) && next !== undefined ? [{ service, before: next.name }] : [];
    }),
  );
}

/** `Thunderbolt 1 before Wi-Fi and 2 more`; `behind all others` where nothing is misplaced. */
export function orderWords([first, ...more]: readonly Misplaced[]): string {
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  return first === undefined ? 'behind all others' : `${first.service.name} before ${first.before}${others}`;
}
