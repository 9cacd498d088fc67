import { driverOfRecord } from '../../../drivers/registry.ts';
import type { MeshWork } from '../members/mesh-step.ts';
import type { SeenOnNode } from './stop-mesh.ts';

/**
 * The work of a stop as the driver wants it by which these members were started, whatever the file says by now. Where
 * their records do not tell, nothing is said to their leader and no INT is sent: another program may not bear either.
 */
export function endedByRecord(work: MeshWork, members: readonly SeenOnNode[]): MeshWork {
  const [record] = members.flatMap(({ seen }) => seen.record ?? []);
  const driver = record && driverOfRecord(record);
  if (record === undefined) return work;
  if (driver === undefined) {
    const { farewell: _farewell, interruptMs: _interruptMs, ...rest } = work;
    return rest;
  }
  const { placement, nodes, changes, group } = work;
  const { interruptMs, graceMs, stopOrder, farewell: name } = driver;
  return {
    placement,
    nodes,
    changes,
    stopOrder,
    ...(group === undefined ? {} : { group }),
    ...(interruptMs === undefined ? {} : { interruptMs }),
    ...(graceMs === undefined ? {} : { graceMs }),
    ...(name === undefined ? {} : { farewell: { name, port: record.endpointPort } }),
  };
}
