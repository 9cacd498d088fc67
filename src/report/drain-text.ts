import type { FleetObservation } from '../doctor/fleet-observation.ts';
import { durationText } from '../doctor/units.ts';
import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';
import { type Known, known, unknown } from '../model/known.ts';
import type { NodeName } from '../model/node.ts';
import { doorsOn, insideSeen, missingDoor } from '../resources/doorman-sights.ts';
import type { ObservedTarget } from '../resources/resource.ts';

/** The last look of a run that drains, and how long it has waited. */
export interface DrainLook {
  readonly fleet: DesiredFleet;
  readonly seen: FleetObservation;
  readonly waitMs: number;
  /** The nodes on which doormen of it stand. */
  readonly leaders: readonly NodeName[];
}

/** What stands before a placement on one of its leaders; undefined where that leader was not reached. */
interface SeenDoor {
  readonly leader: NodeName;
  readonly found: Known<number | 'open'> | undefined;
}

/**
 * Whether a placement is drained: who is still inside, and what opens its door again. One line where all of its doors
 * are closed and nobody is inside, else one for each of its leaders.
 */
export function drainLines(placement: DesiredPlacement, look: DrainLook): readonly string[] {
  const doors = look.leaders.map((leader) => seenDoor(placement, leader, look));
  const isDrained = doors.every(({ found }) => found?.kind === 'known' && found.value === 0);
  const [only, second] = doors;
  if (only === undefined) return [];
  if (second === undefined || isDrained) return [lineOf(placement, only, { ...look, where: '' })];
  return doors.map((door) => lineOf(placement, door, { ...look, where: ` on ${door.leader}` }));
}

function seenDoor({ name }: DesiredPlacement, leader: NodeName, { fleet, seen }: DrainLook): SeenDoor {
  const desired = fleet.nodes.find((node) => node.name === leader);
  const facts = seen.nodes[leader]?.facts;
  if (desired === undefined || facts === undefined) return { leader, found: undefined };
  const target = { desired, facts };
  const ports = doorsOn(fleet, target).flatMap(({ placement, port }) => (placement === name ? [port] : []));
  const found = insideAll(ports.map((port) => seenAt(target, port, name)));
  return { leader, found: found.kind === 'unknown' && found.reason === 'unreachable' ? undefined : found };
}

/** Closed or open, a door at which its doorman does not stand says nothing of who is inside. */
function seenAt(target: ObservedTarget, port: number, placement: string): Known<number | 'open'> {
  const missing = missingDoor(target, port, placement);
  return missing === undefined ? insideSeen(target, port, placement) : unknown('failed', `${missing}.`);
}

/** Of all doors on a node: the first one that is open or of which it is not known, else all who are inside. */
function insideAll(doors: readonly Known<number | 'open'>[]): Known<number | 'open'> {
  let inside = 0;
  for (const door of doors) {
    if (door.kind === 'unknown' || door.value === 'open') return door;
    inside += door.value;
  }
  return known(inside);
}

function lineOf(
  { name }: DesiredPlacement,
  { leader, found }: SeenDoor,
  { waitMs, where }: { readonly waitMs: number; readonly where: string },
): string {
  const opening = `What opens it: meshwright start ${name}, or the next apply.`;
  if (found === undefined) return `${name}: its leader ${leader} could not be observed.`;
  if (found.kind === 'unknown') return `${name}: nobody can say who is inside${where}. ${found.detail} ${opening}`;
  if (found.value === 'open') return `${name} is not drained: its door on ${leader} is open.`;
  if (found.value === 0) return `${name} is drained${where}: its door is closed, and nobody is inside. ${opening}`;
  const told = `${name} is not drained${where}: ${found.value} inside after ${durationText(waitMs)}.`;
  return `${told} Its door stays closed; drain it again to wait longer. ${opening}`;
}
