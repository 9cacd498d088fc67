import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeName } from '../../../model/node.ts';
import type { AccountCheck } from '../../../model/node-script.ts';
import type { Step } from '../../../model/step.ts';
import { treeFolder } from '../../../node/paths/own-paths.ts';
import { type MeshWork, meshStep, scriptAct } from '../members.ts';

/** Longer than the service of a check may run. */
const checkDeadlineMs = 120_000;

/** The tests for the account of its ranks; undefined where they run as the ssh user. */
function checkOf(
  { system, runtimes, models }: DesiredFleet,
  placement: DesiredPlacement,
): Omit<AccountCheck, 'devices'> | undefined {
  const name = system.accounts.ranks;
  if (name === undefined) return undefined;
  const runtime = runtimes.find((one) => one.name === placement.runtime);
  const digest = runtime?.digest;
  const folder = digest && treeFolder({ kind: 'runtime', name: placement.runtime, digest });
  const gpu = runtime && folder && driverOf(runtime).gpuQuestion?.(runtime, folder);
  const model = models.find((one) => one.name === placement.model);
  const outside = runtime && driverOf(runtime).programOutside?.(runtime);
  return {
    name,
    reads: [
      ...(folder === undefined ? [] : [folder]),
      ...(model?.digest === undefined ? [] : [treeFolder({ kind: 'model', name: model.name, digest: model.digest })]),
      ...(outside === undefined ? [] : [outside]),
    ],
    ...(gpu === undefined || digest === undefined ? {} : { gpu: { ...gpu, digest, env: placement.env } }),
  };
}

/** What the account of the ranks has to be tested against. */
export interface CheckSubject {
  readonly fleet: DesiredFleet;
  readonly placement: DesiredPlacement;
  /** The RDMA devices that the ssh user sees on a node; none where that is not known. */
  readonly devicesOn: (node: NodeName) => readonly string[];
}

/** Checks the account of the ranks on each member, before anything is stopped that is to start again. */
export function checkAccounts(work: MeshWork, { fleet, placement, devicesOn }: CheckSubject): readonly Step[] {
  const check = checkOf(fleet, placement);
  if (check === undefined) return [];
  const opensDevices = placement.transport === 'rdma' && placement.nodes.length > 1;
  return work.nodes.map((node) =>
    meshStep(work, {
      node,
      verb: 'check-account',
      act: scriptAct({ name: 'check-account', args: { ...check, ...(opensDevices && { devices: devicesOn(node) }) } }),
      deadlineMs: checkDeadlineMs,
    }),
  );
}
