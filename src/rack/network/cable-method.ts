import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, ServiceAddress } from '../../model/facts/fact-values.ts';
import { read } from '../fact.ts';
import { isLeftToKeeper } from './left-to-keeper.ts';
import { networkServicesFact } from './network-services-fact.ts';
import { serviceAddressesFact } from './service-addresses-fact.ts';

/**
 * How the service that counts for the interface of a receptacle gets its IPv4 address; `none` without such a service.
 * Where the keeper holds the addresses it is `other`: the interface then has its address whatever the service says.
 */
export function cableMethod(
  desired: DesiredFleet,
  facts: Facts,
  device: string,
): ServiceAddress['method'] | 'none' | 'unknown' {
  if (isLeftToKeeper(desired, facts)) return 'other';
  const services = read(facts, networkServicesFact);
  const kept = read(facts, serviceAddressesFact);
  if (services.kind === 'unknown' || kept.kind === 'unknown') return 'unknown';
  const service = services.value.find((one) => one.device === device && one.isEnabled);
  return kept.value.find((one) => one.device === device && one.service === service?.name)?.method ?? 'none';
}
