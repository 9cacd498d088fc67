import type { DesiredFleet } from '../../../model/desired.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import { oncePer } from '../../../model/lists.ts';
import { doormanLabel, doormanPort } from '../../../node/paths/own-paths.ts';
import { read } from '../../fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import type { ObservedTarget, View } from '../../resource.ts';
import type { Door } from './doors.ts';
import { doormenOn } from './gateways.ts';

/** Placements that a running doorman names and that the file does not have behind it. */
export function leavingAt(
  services: readonly LaunchdService[],
  port: number,
  wanted: readonly string[],
): readonly string[] {
  const service = services.find(({ label }) => label === doormanLabel(port));
  return service?.state === 'running' ? (service.behind ?? []).filter((name) => !wanted.includes(name)) : [];
}

/** One door that a placement has where the file does not have it any more: its endpoint has moved, or is published no more. */
export interface LeftDoor extends Door {
  readonly placement: string;
}

/** Every such door on one node. */
export function leftDoorsOn(
  desired: DesiredFleet,
  { desired: { name: leader }, facts }: ObservedTarget,
): readonly LeftDoor[] {
  const services = read(facts, servicesFact);
  if (services.kind === 'unknown') return [];
  const wanted = doormenOn(desired, leader);
  return services.value.flatMap(({ label }): readonly LeftDoor[] => {
    const port = doormanPort(label);
    if (port === undefined) return [];
    const own = wanted.find((one) => one.port === port)?.placements.map(({ name }) => name) ?? [];
    return leavingAt(services.value, port, own).map((placement) => ({ leader, port, placement }));
  });
}

/** Every such door on the targets. */
export const leftDoors = oncePer(({ desired, targets }: View): readonly LeftDoor[] =>
  targets.flatMap((target) => leftDoorsOn(desired, target)),
);
