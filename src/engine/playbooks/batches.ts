import { everyNode } from '../../desired/layouts.ts';
import { updateUnits } from '../../desired/update-units.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { type BatchSize, mayStop, type Play, updatesMacos } from './playbook.ts';

/** Macs that placements connect: stopping one of them stops a placement on the others, too. */
export interface Unit {
  /** The Macs of the play, in fleet order. */
  readonly nodes: readonly NodeName[];
  /** The placements that the file sets to serving, with a rank on any Mac of the unit. */
  readonly placements: readonly string[];
}

type Placements = Pick<DesiredFleet, 'placements'> & Partial<Pick<DesiredFleet, 'nodes' | 'thunderbolt'>>;

/**
 * Divides nodes into units. Placements that share a Mac are one unit, even if the shared Mac is not among these nodes. A
 * Mac without a serving placement is a unit by itself.
 */
export function unitsOf(nodes: readonly NodeName[], { placements }: Placements): readonly Unit[] {
  let groups = placements
    .filter(({ state }) => state === 'serving')
    .map((one) => ({ members: everyNode(one), placements: [one.name] }));
  for (const node of groups.flatMap(({ members }) => members)) {
    const joined = groups.filter(({ members }) => members.includes(node));
    const whole = {
      members: [...new Set(joined.flatMap(({ members }) => members))],
      placements: joined.flatMap((one) => one.placements),
    };
    groups = [...groups.filter((one) => !joined.includes(one)), whole];
  }
  const units = new Map<readonly string[] | NodeName, Unit>();
  for (const node of nodes) {
    const group = groups.find(({ members }) => members.includes(node));
    const key = group?.placements ?? node;
    const names = placements.map(({ name }) => name).filter((name) => group?.placements.includes(name));
    units.set(key, { nodes: [...(units.get(key)?.nodes ?? []), node], placements: names });
  }
  return [...units.values()];
}

/** True if the batches of this play never divide a unit. */
const isByUnit = (play: Play): boolean => play.tasks.some(mayStop) || play.serial.some(({ kind }) => kind === 'unit');

/** The units of a macOS update: cables connect Macs, too. */
function unitsByCable(
  nodes: readonly NodeName[],
  { placements, nodes: all = [], thunderbolt }: Placements,
): readonly Unit[] {
  if (thunderbolt === undefined) return unitsOf(nodes, { placements });
  return updateUnits({ nodes: all, thunderbolt, placements })
    .map((unit) => ({
      nodes: nodes.filter((node) => unit.nodes.includes(node)),
      placements: unit.placements.filter(({ state }) => state === 'serving').map(({ name }) => name),
    }))
    .filter((unit) => unit.nodes.length > 0);
}

/** What a batch takes: whole units, or single nodes of a play that stops nothing. */
export function itemsOf(play: Play, nodes: readonly NodeName[], fleet: Placements): readonly Unit[] {
  if (play.tasks.some(updatesMacos)) return unitsByCable(nodes, fleet);
  const units = unitsOf(nodes, fleet);
  if (isByUnit(play)) return units;
  return nodes.map((node) => ({
    nodes: [node],
    placements: units.find((unit) => unit.nodes.includes(node))?.placements ?? [],
  }));
}

/** How many nodes fit in a batch of this size that begins with this unit. */
function roomFor(size: BatchSize | undefined, total: number, first: Unit): number {
  if (size === undefined) return total;
  if (size.kind === 'unit') return first.nodes.length;
  return size.kind === 'count' ? Math.max(1, size.count) : Math.max(1, Math.ceil((total * size.percent) / 100));
}

interface Batch {
  readonly nodes: readonly NodeName[];
  /** The position of its size in `serial`; -1 without sizes. */
  readonly at: number;
  readonly room: number;
  readonly first: Unit;
}

/**
 * Fills each batch up to its size and repeats the last size; without sizes, all nodes are one batch. The first unit of a
 * batch is always taken whole. With `respect: placements`, a batch has the serving placements of one unit at most.
 */
function walk(play: Play, nodes: readonly NodeName[], fleet: Placements): readonly Batch[] {
  const batches: Batch[] = [];
  const items = [...itemsOf(play, nodes, fleet)];
  for (let first = items.shift(); first !== undefined; first = items.shift()) {
    const at = Math.min(batches.length, play.serial.length - 1);
    const room = roomFor(play.serial[at], nodes.length, first);
    const taken = [first];
    for (let next = items[0]; next !== undefined && fits(next, taken, room, play); next = items[0]) {
      taken.push(next);
      items.shift();
    }
    const members = taken.flatMap((one) => one.nodes);
    batches.push({ nodes: nodes.filter((node) => members.includes(node)), at, room, first });
  }
  return batches;
}

function fits(next: Unit, taken: readonly Unit[], room: number, { respect }: Play): boolean {
  const count = taken.reduce((sum, one) => sum + one.nodes.length, next.nodes.length);
  const serving = taken.find(({ placements }) => placements.length > 0);
  const joinsTwo = serving !== undefined && next.placements.length > 0 && serving.placements[0] !== next.placements[0];
  return count <= room && !(respect === 'placements' && joinsTwo);
}

/** The batches of a play, in order. */
export const batchesOf = (
  play: Play,
  nodes: readonly NodeName[],
  fleet: Placements,
): readonly (readonly NodeName[])[] => walk(play, nodes, fleet).map((batch) => batch.nodes);

export interface TooSmall {
  /** The position in `serial`. */
  readonly at: number;
  readonly room: number;
  readonly unit: Unit;
}

/** The sizes in `serial` that would divide a unit, each with the first such unit. */
export function tooSmallSizes(play: Play, nodes: readonly NodeName[], fleet: Placements): readonly TooSmall[] {
  const small = walk(play, nodes, fleet).filter(({ room, first }) => first.nodes.length > room);
  return small
    .filter(({ at }, index) => small.findIndex((one) => one.at === at) === index)
    .map(({ at, room, first }) => ({ at, room, unit: first }));
}
