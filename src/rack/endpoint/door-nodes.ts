import { leadersOf } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { Known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { type Addressed, addressed, nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { doormanPort } from '../../node/paths/own-paths.ts';
import { read } from '../fact.ts';
import type { FleetObservation } from '../fleet-observation.ts';
import { insideAddress } from '../placement/doors/doors.ts';
import { doormenOn } from '../placement/doors/gateways.ts';
import { leftDoorsOn } from '../placement/doors/left-doors.ts';
import { isRunning, seeMember } from '../placement/members/member.ts';
import { servicesFact } from '../records/services-fact.ts';
import type { ObservedTarget } from '../resource.ts';

/** The file, and what was seen of its nodes. */
export interface DoorLook {
  readonly fleet: DesiredFleet;
  readonly seen: FleetObservation;
}

/** Something on a node that may be a door of a placement, put there by an earlier file; nobody can tell. */
interface UntoldDoor extends Addressed {
  readonly why: Extract<Known<unknown>, { kind: 'unknown' }>;
}

const factsOf = ({ nodes }: FleetObservation, node: NodeName) =>
  Object.hasOwn(nodes, node) ? nodes[node]?.facts : undefined;

/**
 * Whether clients who come in at a node may get anywhere: behind its doors is the first rank on that node itself. Of one
 * that does not say it, that is known only where the first rank is seen to run on another one.
 */
function mayLead(placement: string, node: NodeName, { fleet, seen }: DoorLook): boolean {
  const own = seeMember(node, placement, factsOf(seen, node)).seen;
  if (own.kind === 'known') return own.value.record?.rank === 0 && own.value.mayRun;
  return !fleet.nodes.some(({ name }) => {
    const other = seeMember(name, placement, factsOf(seen, name)).seen;
    return other.kind === 'known' && other.value.record?.rank === 0 && isRunning(other.value);
  });
}

/** What may be doors of a placement on a node that answered, beside those that it names. */
export function untoldDoors(
  placement: string,
  { desired: { name }, facts }: ObservedTarget,
  look: DoorLook,
): readonly UntoldDoor[] {
  const own = doormenOn(look.fleet, name).filter(({ placements }) => placements.some((one) => one.name === placement));
  if (!mayLead(placement, name, look)) return [];
  const services = read(facts, servicesFact);
  if (services.kind === 'unknown') return own.length > 0 ? [] : [{ ...addressed({ kind: 'doorman' }), why: services }];
  return services.value.flatMap(({ label, state, behind }): readonly UntoldDoor[] => {
    const port = doormanPort(label);
    if (port === undefined || state !== 'running' || behind !== undefined) return [];
    if (own.some((one) => one.port === port)) return [];
    const detail = `The doorman at port ${port} does not say whom it has behind it.`;
    return [{ ...insideAddress(port, placement), why: { kind: 'unknown', reason: 'failed', detail } }];
  });
}

/** Whether a node has a door of a placement, or may have one. */
function hasDoor(placement: DesiredPlacement, node: NodeName, look: DoorLook): boolean {
  if (leadersOf(placement).includes(node)) return true;
  const desired = look.fleet.nodes.find(({ name }) => name === node);
  const facts = factsOf(look.seen, node);
  if (desired === undefined) return false;
  if (facts === undefined) return mayLead(placement.name, node, look);
  const target = { desired, facts };
  const isLeft = leftDoorsOn(look.fleet, target).some((door) => door.placement === placement.name);
  return isLeft || untoldDoors(placement.name, target, look).length > 0;
}

/**
 * The nodes of the file on which doors of these placements stand: the leader of each layout, and each one on which an
 * earlier file has left a door, or of which nobody can tell. Of a Mac that has left the file nothing can be known.
 */
export function doorNodes(look: DoorLook, placements: readonly string[]): readonly NodeName[] {
  const meant = look.fleet.placements.filter(({ name }) => placements.includes(name));
  return look.fleet.nodes.map(({ name }) => name).filter((node) => meant.some((one) => hasDoor(one, node, look)));
}

/** What is not known of a door on a node that nobody could ask, and what to do. */
export function unaskedDoor(placement: DesiredPlacement, node: NodeName): Diagnostic {
  const isOfFile = leadersOf(placement).includes(node);
  const { name } = placement;
  const asked = isOfFile
    ? `whether the door of ${name} there is closed, and who is inside: it may`
    : `whether an earlier file has left a door of ${name} there: one may`;
  const leaving = isOfFile ? `nodes of ${name} in the file` : 'file';
  return diagnose('endpoint/door-not-asked', {
    subject: nodeSubject(node),
    detail: prose`Nobody could ask ${named(node)} ${asked} still let clients in, now or as soon as that Mac is back.`,
    hint: prose`Bring ${named(node)} back, then: ${meshwright('drain', name)}. Where it is gone for good, take it out of the ${leaving}.`,
  });
}
