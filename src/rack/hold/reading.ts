import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../examination.ts';
import { read, readValue } from '../fact.ts';
import { holdFact } from './hold-fact.ts';

interface Held {
  readonly reason: string;
  readonly until?: string;
  readonly isOver: boolean;
  /** `file`: a key in the cluster file. `node`: stored on the node by the command `hold`. */
  readonly source: 'file' | 'node';
  readonly by?: string;
}

/** All known holds on a node, the file's hold first. */
export function holdsOf(desired: DesiredNode, facts: Facts | undefined): readonly Held[] {
  const { hold } = desired;
  return [
    ...(hold === undefined ? [] : [{ ...hold, isOver: hold.isOver === true, source: 'file' as const }]),
    ...(readValue(facts, holdFact) ?? []).map((one) => ({ ...one, source: 'node' as const })),
  ];
}

/** Explains why these nodes must not be used now: each hold and how to end it, and each node whose hold is unknown. */
export function holdsAgainst(nodes: readonly DesiredNode[], observation: FleetObservation) {
  return nodes.flatMap((desired) => {
    const { name: node } = desired;
    const facts = observation.nodes[node]?.facts;
    const held = holdsOf(desired, facts).filter(({ isOver }) => !isOver);
    const isUnknown = facts === undefined || read(facts, holdFact).kind === 'unknown';
    return [
      ...held.map((one) => ({
        kind: 'held' as const,
        node,
        why: `it is on hold (${escapeText(one.reason)})`,
        hint: prose`To end the hold: ${releaseText(node, one)}`,
      })),
      ...(isUnknown ? [{ kind: 'unseen' as const, node, why: 'it is unknown whether the node is on hold' }] : []),
    ];
  });
}

export const releaseText = (node: string, { source }: Held): Prose =>
  source === 'node' ? prose`${meshwright('release', node)}` : `remove nodes.${node}.hold from the cluster file`;
