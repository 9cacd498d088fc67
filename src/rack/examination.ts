import { needsRdma } from '../desired/layouts.ts';
import type { Severity } from '../diagnostics/code-entry.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import type { Facts, NodeObservation } from '../model/facts/fact-values.ts';
import type { LinkEnd, NodeName } from '../model/node.ts';
import { type Cabling, judgeCabling } from './cabling/judge-cabling.ts';
import { findMoves, type MoveGroup } from './cabling/moves.ts';

/** How bad missing RDMA is on these nodes: where nothing in the file needs it, it is only worth knowing. */
export const rdmaSeverity = ({ desired }: Examination, nodes: readonly NodeName[]): Severity =>
  nodes.some((node) => needsRdma(desired, node)) ? 'error' : 'notice';

/** A node that answered, beside what the file wants of it. */
export interface ExaminedNode {
  readonly name: NodeName;
  readonly desired: DesiredNode;
  readonly facts: Facts;
  /** Its ends of declared links, by receptacle number. */
  readonly ends: readonly LinkEnd[];
}

/** Everything that a rule may look at, worked out once. */
export interface Examination {
  readonly desired: DesiredFleet;
  /** The nodes that answered, in the order of the file's names; nobody speaks about the others. */
  readonly nodes: readonly ExaminedNode[];
  readonly failures: FleetObservation['failures'];
  readonly cabling: Cabling;
  readonly moves: readonly MoveGroup[];
}

/**
 * Whether nothing at all could be asked of this node, or its connection broke off in the middle: a Mac that somebody
 * switches off looks so. A missing Mac is one finding, not one for each fact that did not arrive.
 */
const isAway = (facts: Facts, failures: readonly Diagnostic[]): boolean =>
  failures.some(({ code }) => code === 'ssh/dropped') ||
  Object.values(facts).every((fact) => fact.kind === 'unknown' && fact.reason === 'unreachable');

/** Puts the file and the observation side by side. */
export function examine(desired: DesiredFleet, observation: FleetObservation): Examination {
  const ends = desired.thunderbolt.links.flatMap((link) => link.ends);
  // A node that only a link names counts too: as long as it was not looked at, an unknown Mac at a cable may be it.
  const names = [...new Set([...desired.nodes.map(({ name }) => name), ...ends.map(({ node }) => node)])].toSorted();
  const cabling = judgeCabling(desired.thunderbolt.links, names, observation.nodes);
  const nodes = desired.nodes.flatMap((node): ExaminedNode[] => {
    const facts = Object.hasOwn(observation.nodes, node.name) ? observation.nodes[node.name]?.facts : undefined;
    if (facts === undefined || isAway(facts, observation.failures[node.name] ?? [])) return [];
    const own = ends.filter((end) => end.node === node.name).toSorted((a, b) => a.receptacle - b.receptacle);
    return [{ name: node.name, desired: node, facts, ends: own }];
  });
  return { desired, nodes, failures: observation.failures, cabling, moves: findMoves(cabling) };
}

/** What one run found out about the whole fleet. A node that was not asked is in neither record. */
export interface FleetObservation {
  /** By node name. A node that could not be reached has every fact `unknown('unreachable')`. */
  readonly nodes: Readonly<Record<string, NodeObservation>>;
  /** By node name: why a node could not be observed, or not to the end. */
  readonly failures: Readonly<Record<string, readonly Diagnostic[]>>;
}
