import type { Facts } from '../../model/facts/fact-values.ts';
import { read } from '../../rack/fact.ts';
import { hasRdmaInSettings } from '../../rack/macos/macos.ts';
import { rdmaDevicesFact } from '../../rack/rdma/devices-fact.ts';
import type { FactName } from '../observe/facts.ts';

/** Facts that only make hints more precise, or without which a finding becomes a suspicion. */
const optionalFacts: readonly FactName[] = ['software-updates', 'receptacle-places', 'dhcp-leases'];

/** Facts about RDMA objects: where no RDMA device is known, the driver may not be loaded. */
const kernelFacts: readonly FactName[] = ['rdma-objects', 'rdma-holders'];

const hasRdmaDevices = (facts: Facts): boolean => {
  const devices = read(facts, rdmaDevicesFact);
  return devices.kind === 'known' && devices.value.length > 0;
};

/** Whether a fact may stay unknown without a finding. The RDMA switch decides something from macOS 27 on only. */
export const isOptionalFact = (name: FactName, facts: Facts): boolean =>
  optionalFacts.includes(name) ||
  (name === 'rdma-switch' && !hasRdmaInSettings(facts)) ||
  (kernelFacts.includes(name) && !hasRdmaDevices(facts));
