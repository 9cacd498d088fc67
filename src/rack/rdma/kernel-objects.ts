import { rankPlacement } from '../../model/facts/daemons.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { RdmaHolders, RdmaObject, RdmaObjects, RdmaProcess } from '../../model/facts/rdma.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { read } from '../fact.ts';
import { servicesFact } from '../records/services-fact.ts';
import { rdmaHoldersFact, rdmaObjectsFact } from './kernel-fact.ts';

/** What the RDMA driver of a node has in its kernel, and what would free it. */
export interface KernelObjects extends RdmaObjects {
  /** Those of living processes: they are given back when these end. */
  readonly held: RdmaObjects;
  /** Those of no process: only a restart of the Mac frees them. */
  readonly withoutProcess: RdmaObjects;
}

const none: RdmaObjects = { domains: 0, queuePairs: 0 };

/**
 * The objects in the kernel of a node, by whether a living process has them. Unknown where the driver is not loaded,
 * where the count and the list differ, or where a rank runs for which no process is listed.
 *
 * @see dryvist/nix-ai, docs/runbooks/rdma-protection-domains.md: domains return when their process ends, not its launcher
 */
export function kernelObjects(facts: Facts): Known<KernelObjects> {
  const counted = read(facts, rdmaObjectsFact);
  const holders = read(facts, rdmaHoldersFact);
  if (counted.kind === 'unknown') return counted;
  const all = counted.value;
  if (all.domains + all.queuePairs === 0) return known({ ...all, held: none, withoutProcess: none });
  if (holders.kind === 'unknown') return holders;
  const isHeld = holders.value.processes.some(isHolder);
  if (!isHeld && mayRankRun(facts)) {
    return unknown('garbled', 'A rank runs, but no process is listed for the RDMA objects in the kernel.');
  }
  const held = isHeld ? heldBy(holders.value) : none;
  const listed = countObjects(holders.value.devices.flatMap(({ objects }) => objects));
  if (isHeld && (listed.domains !== all.domains || listed.queuePairs !== all.queuePairs)) {
    return unknown('garbled', 'The kernel counts other RDMA objects than it lists.');
  }
  const withoutProcess = { domains: all.domains - held.domains, queuePairs: all.queuePairs - held.queuePairs };
  return known({ ...all, held, withoutProcess });
}

/** Whether no signal ends a process: it waits in the driver while an object of its devices is being ended, or asks it. */
export function isStuck(process: RdmaProcess, { devices }: RdmaHolders): boolean {
  const own = devices.filter(({ device }) => process.devices.includes(device));
  const isWaiting = own.some(({ objects }) => objects.some(({ isActive }) => !isActive));
  return process.state === 'uninterruptible' && (process.isVerbsTool || isWaiting);
}

const isHolder = ({ state, devices }: RdmaProcess): boolean => state !== 'gone' && devices.length > 0;

/** An inactive object has outlived its owner, or is what its owner hangs in; either way the process gives nothing back. */
function heldBy({ devices, processes }: RdmaHolders): RdmaObjects {
  const open = new Set(processes.filter(isHolder).flatMap((process) => process.devices));
  return countObjects(
    devices.flatMap(({ device, objects }) => (open.has(device) ? objects.filter(({ isActive }) => isActive) : [])),
  );
}

/** How many of each kind these are. */
export const countObjects = (objects: readonly RdmaObject[]): RdmaObjects => ({
  domains: objects.filter(({ kind }) => kind === 'domain').length,
  queuePairs: objects.filter(({ kind }) => kind === 'queue-pair').length,
});

function mayRankRun(facts: Facts): boolean {
  const services = read(facts, servicesFact);
  return (
    services.kind === 'unknown' ||
    services.value.some((service) => rankPlacement(service) !== undefined && service.state === 'running')
  );
}
