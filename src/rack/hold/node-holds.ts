import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../examination.ts';
import { read } from '../fact.ts';
import { holdFact } from './hold-fact.ts';

/** Why a node is to be left alone, and where that stands. */
interface Held {
  readonly reason: string;
  readonly until?: string;
  readonly isOver: boolean;
  /** `file`: by a key of the cluster file; `node`: by the verb, on the node itself. */
  readonly kept: 'file' | 'node';
  /** Who said so, where that is known. */
  readonly by?: string;
}

/** Every hold of a node, that of the file first; none of what nobody could see. */
export function holdsOf(desired: DesiredNode, facts: Facts | undefined): readonly Held[] {
  const { hold: wish } = desired;
  const seen = read(facts, holdFact);
  return [
    ...(wish === undefined ? [] : [{ ...wish, isOver: wish.isOver === true, kept: 'file' as const }]),
    ...(seen?.kind === 'known' ? seen.value.map((one) => ({ ...one, kept: 'node' as const })) : []),
  ];
}

/** Why one node may not be used now: a hold and what ends it, or `unseen` where nobody could see whether there is one. */
export type HoldAgainst = { readonly node: NodeName; readonly why: string } & (
  | { readonly kind: 'held'; readonly hint: Prose }
  | { readonly kind: 'unseen' }
);

/** Why these nodes may not be used now: each hold that is not over, and each node that does not say whether it is held. */
export function holdsAgainst(nodes: readonly DesiredNode[], observation: FleetObservation): readonly HoldAgainst[] {
  return nodes.flatMap((desired) => {
    const { name: node } = desired;
    const facts = observation.nodes[node]?.facts;
    const held = holdsOf(desired, facts).filter(({ isOver }) => !isOver);
    const isUnknown = facts === undefined || read(facts, holdFact).kind === 'unknown';
    return [
      ...held.map((one) => ({
        kind: 'held' as const,
        node,
        why: `it is held (${escapeText(one.reason)})`,
        hint: prose`When it may be used again: ${releaseText(node, one)}`,
      })),
      ...(isUnknown ? [{ kind: 'unseen' as const, node, why: 'nobody could see whether it is held' }] : []),
    ];
  });
}

/** What ends a hold: a verb, or an edit of the file. */
export const releaseText = (node: string, { kept }: Held): Prose =>
  kept === 'node' ? prose`${meshwright('release', node)}` : `take nodes.${node}.hold out of the cluster file`;
