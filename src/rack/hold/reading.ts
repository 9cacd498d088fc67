import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../examination.ts';
import { read } from '../fact.ts';
import { holdFact } from './hold-fact.ts';

/** A hold on a node, with its reason and the place where it is stored. */
interface Held {
  readonly reason: string;
  readonly until?: string;
  readonly isOver: boolean;
  /** `file`: a key in the cluster file. `node`: stored on the node by the command `hold`. */
  readonly kept: 'file' | 'node';
  /** Who set the hold, if known. */
  readonly by?: string;
}

/** All known holds on a node, the file's hold first. */
export function holdsOf(desired: DesiredNode, facts: Facts | undefined): readonly Held[] {
  const { hold: wish } = desired;
  const seen = read(facts, holdFact);
  return [
    ...(wish === undefined ? [] : [{ ...wish, isOver: wish.isOver === true, kept: 'file' as const }]),
    ...(seen?.kind === 'known' ? seen.value.map((one) => ({ ...one, kept: 'node' as const })) : []),
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

/** Explains how to end a hold: with a command, or with an edit of the file. */
export const releaseText = (node: string, { kept }: Held): Prose =>
  kept === 'node' ? prose`${meshwright('release', node)}` : `remove nodes.${node}.hold from the cluster file`;
