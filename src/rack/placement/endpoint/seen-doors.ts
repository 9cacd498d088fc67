import type { DesiredFleet } from '../../../model/desired.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import { type Known, known, mapKnown, unknown } from '../../../model/known.ts';
import { oncePer } from '../../../model/lists.ts';
import { closedFile, doormanLabel, doormanPort } from '../../../node/paths/own-paths.ts';
import { read, readValue } from '../../fact.ts';
import { filesFact } from '../../records/files-fact.ts';
import { doormenFact } from '../../records/gateways-fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import type { ObservedTarget, Sight, View } from '../../resource.ts';
import { type Door, insideAddress } from './doors.ts';
import { doormenOn } from './gateways.ts';

/** Whether the file that keeps a placement closed exists on its node; unknown if the node's files are. */
export function isClosed({ facts }: ObservedTarget, port: number, placement: string): Known<boolean> {
  const { path } = closedFile(port, placement);
  return mapKnown(read(facts, filesFact), (files) => files.some((one) => one.path === path && one.state !== 'missing'));
}

/** Any requests in flight came another way, unknown to this gateway. */
const unappliedText = (port: number, placement: string): string =>
  `The gateway at port ${port} does not serve ${placement} yet`;

/** Why closing a placement at a port would have no effect; undefined if its gateway is there. */
export function missingDoor({ facts }: ObservedTarget, port: number, placement: string): string | undefined {
  const services = readValue(facts, servicesFact);
  if (services === undefined) return undefined;
  const service = services.find(({ label }) => label === doormanLabel(port));
  if (service === undefined) return `There is no gateway for ${placement} at port ${port} yet`;
  const isOfOthers = service.state === 'running' && service.behind?.includes(placement) === false;
  return isOfOthers ? unappliedText(port, placement) : undefined;
}

/**
 * How many requests are in flight for a closed placement; `open` while it is not closed. A gateway without a process
 * has none.
 */
export function insideSeen(target: ObservedTarget, port: number, placement: string): Known<number | 'open'> {
  const closed = isClosed(target, port, placement);
  if (closed.kind === 'unknown') return closed;
  if (!closed.value) return known('open');
  const services = read(target.facts, servicesFact);
  const doormen = read(target.facts, doormenFact);
  if (services.kind === 'unknown') return services;
  const service = services.value.find(({ label }) => label === doormanLabel(port));
  if (service?.state !== 'running') return known(0);
  if (doormen.kind === 'unknown') return doormen;
  const seen = doormen.value.find((one) => one.port === port);
  if (seen === undefined)
    return unknown('not-asked', `The gateway at port ${port} was not asked for its requests in flight.`);
  if (seen.kind === 'silent')
    return unknown('failed', `The gateway at port ${port} did not report its requests in flight.`);
  const door = seen.doors.find((one) => one.placement === placement);
  if (door === undefined) return unknown('failed', `${unappliedText(port, placement)}.`);
  return known(door.running + door.waiting);
}

/** All gateways of a node's placements: those in the file and those that an earlier file left. */
export const doorsOn = (fleet: DesiredFleet, target: ObservedTarget): readonly LeftDoor[] => [
  ...doormenOn(fleet, target.desired.name).flatMap(({ node: leader, port, placements }) =>
    placements.map(({ name: placement }) => ({ leader, port, placement })),
  ),
  ...leftDoorsOn(fleet, target),
];

/** Requests in flight of every published placement, for gates that wait until there are none. */
export const doormanSights = ({ desired, targets }: View): readonly Sight[] =>
  targets.flatMap((target) =>
    doorsOn(desired, target).map(({ leader, port, placement }) => ({
      node: leader,
      ...insideAddress(port, placement),
      observed: insideSeen(target, port, placement),
    })),
  );

/** Placements that a running gateway serves although the file no longer puts them there. */
export function leavingAt(
  services: readonly LaunchdService[],
  port: number,
  wanted: readonly string[],
): readonly string[] {
  const service = services.find(({ label }) => label === doormanLabel(port));
  return service?.state === 'running' ? (service.behind ?? []).filter((name) => !wanted.includes(name)) : [];
}

/** A gateway of a placement at a port that the file no longer has: its endpoint moved, or it is no longer published. */
export interface LeftDoor extends Door {
  readonly placement: string;
}

export function leftDoorsOn(
  desired: DesiredFleet,
  { desired: { name: leader }, facts }: ObservedTarget,
): readonly LeftDoor[] {
  const services = readValue(facts, servicesFact) ?? [];
  const wanted = doormenOn(desired, leader);
  return services.flatMap(({ label }): readonly LeftDoor[] => {
    const port = doormanPort(label);
    if (port === undefined) return [];
    const own = wanted.find((one) => one.port === port)?.placements.map(({ name }) => name) ?? [];
    return leavingAt(services, port, own).map((placement) => ({ leader, port, placement }));
  });
}

export const leftDoors = oncePer(({ desired, targets }: View): readonly LeftDoor[] =>
  targets.flatMap((target) => leftDoorsOn(desired, target)),
);
