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

/** Whether the file that keeps a placement closed lies on its node; unknown where the files are. */
export function isClosed({ facts }: ObservedTarget, port: number, placement: string): Known<boolean> {
  const { path } = closedFile(port, placement);
  return mapKnown(read(facts, filesFact), (files) => files.some((one) => one.path === path && one.state !== 'missing'));
}

/** That a doorman has others behind it: whoever is inside the placement came by another way, of which it knows nothing. */
const unappliedText = (port: number, placement: string): string =>
  `The doorman at port ${port} does not have ${placement} behind it yet`;

/** Why it closes nothing when the door of a placement is closed at a port; undefined where its doorman stands there. */
export function missingDoor({ facts }: ObservedTarget, port: number, placement: string): string | undefined {
  const services = readValue(facts, servicesFact);
  if (services === undefined) return undefined;
  const service = services.find(({ label }) => label === doormanLabel(port));
  if (service === undefined) return `No doorman stands before ${placement} at port ${port} yet`;
  const isOfOthers = service.state === 'running' && service.behind?.includes(placement) === false;
  return isOfOthers ? unappliedText(port, placement) : undefined;
}

/**
 * How many are inside a placement whose door is closed, and have no whole answer yet; `open` while it is not. A doorman
 * without a process has nobody inside.
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
  if (seen === undefined) return unknown('not-asked', `Nobody asked the doorman at port ${port} who is inside.`);
  if (seen.kind === 'silent') return unknown('failed', `The doorman at port ${port} does not say who is inside.`);
  const door = seen.doors.find((one) => one.placement === placement);
  if (door === undefined) return unknown('failed', `${unappliedText(port, placement)}.`);
  return known(door.running + door.waiting);
}

/** Every door of the placements of a node: where the file puts it, and where an earlier file has left one. */
export const doorsOn = (fleet: DesiredFleet, target: ObservedTarget): readonly LeftDoor[] => [
  ...doormenOn(fleet, target.desired.name).flatMap(({ node: leader, port, placements }) =>
    placements.map(({ name: placement }) => ({ leader, port, placement })),
  ),
  ...leftDoorsOn(fleet, target),
];

/** Who is inside every published placement, for those who wait until nobody is. */
export const doormanSights = ({ desired, targets }: View): readonly Sight[] =>
  targets.flatMap((target) =>
    doorsOn(desired, target).map(({ leader, port, placement }) => ({
      node: leader,
      ...insideAddress(port, placement),
      observed: insideSeen(target, port, placement),
    })),
  );

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
  const services = readValue(facts, servicesFact) ?? [];
  const wanted = doormenOn(desired, leader);
  return services.flatMap(({ label }): readonly LeftDoor[] => {
    const port = doormanPort(label);
    if (port === undefined) return [];
    const own = wanted.find((one) => one.port === port)?.placements.map(({ name }) => name) ?? [];
    return leavingAt(services, port, own).map((placement) => ({ leader, port, placement }));
  });
}

/** Every such door on the targets. */
export const leftDoors = oncePer(({ desired, targets }: View): readonly LeftDoor[] =>
  targets.flatMap((target) => leftDoorsOn(desired, target)),
);
