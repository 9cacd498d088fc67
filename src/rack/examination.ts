import { needsRdma } from '../desired/layouts.ts';
import type { Severity } from '../diagnostics/code-entry.ts';
import { type Diagnostic, hasTrait } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import type { Facts, NodeObservation } from '../model/facts/fact-values.ts';
import type { LinkEnd, NodeName } from '../model/node.ts';
import { type Cabling, judgeCabling } from './cabling/judge-cabling.ts';
import { findMoves, type MoveGroup } from './cabling/moves.ts';

/** The severity of missing RDMA on these nodes: only a notice if nothing in the file needs RDMA. */
export const rdmaSeverity = ({ desired }: Examination, nodes: readonly NodeName[]): Severity =>
  nodes.some((node) => needsRdma(desired, node)) ? 'error' : 'notice';

/** A node that answered, with its desired state. */
export interface ExaminedNode {
  readonly name: NodeName;
  readonly desired: DesiredNode;
  readonly facts: Facts;
  /** Its ends of declared links, sorted by receptacle number. */
  readonly ends: readonly LinkEnd[];
}

/** Everything that a rule can read, computed once. */
export interface Examination {
  readonly desired: DesiredFleet;
  /** The nodes that answered, in the order of `desired.nodes`. Rules report nothing about the others. */
  readonly nodes: readonly ExaminedNode[];
  readonly failures: FleetObservation['failures'];
  readonly cabling: Cabling;
  readonly moves: readonly MoveGroup[];
}

/**
 * True if a node answered nothing, or if its connection broke in the middle, as when a Mac shuts down. A missing Mac is
 * one finding, not one for each missing fact.
 */
const isAway = (facts: Facts, failures: readonly Diagnostic[]): boolean =>
  failures.some((one) => hasTrait(one, 'dropped')) ||
  Object.values(facts).every((fact) => fact.kind === 'unknown' && fact.reason === 'unreachable');

export function observedNodes(desired: DesiredFleet, observation: FleetObservation): readonly ExaminedNode[] {
  const ends = desired.thunderbolt.links.flatMap((link) => link.ends);
  return desired.nodes.flatMap((node): ExaminedNode[] => {
    const facts = Object.hasOwn(observation.nodes, node.name) ? observation.nodes[node.name]?.facts : undefined;
    if (facts === undefined || isAway(facts, observation.failures[node.name] ?? [])) return [];
    const own = ends.filter((end) => end.node === node.name).toSorted((a, b) => a.receptacle - b.receptacle);
    return [{ name: node.name, desired: node, facts, ends: own }];
  });
}

export function examine(desired: DesiredFleet, observation: FleetObservation): Examination {
  const { links } = desired.thunderbolt;
  // Includes nodes that only a link names: until such a node is observed, an unknown Mac on a cable may be that node.
  const named = [
    ...desired.nodes.map(({ name }) => name),
    ...links.flatMap(({ ends }) => ends.map(({ node }) => node)),
  ];
  const cabling = judgeCabling(links, [...new Set(named)].toSorted(), observation.nodes);
  const nodes = observedNodes(desired, observation);
  return { desired, nodes, failures: observation.failures, cabling, moves: findMoves(cabling) };
}

/** One run's observation of the whole fleet. A node that was not queried is in neither record. */
export interface FleetObservation {
  /** Keyed by node name. If a node could not be reached, each of its facts is `unknown('unreachable')`. */
  readonly nodes: Readonly<Record<string, NodeObservation>>;
  /** Keyed by node name: the reasons why a node could be observed only in part or not at all. */
  readonly failures: Readonly<Record<string, readonly Diagnostic[]>>;
}
