import { digestOf, type Json } from '../../model/digest.ts';
import { bootSessionFact } from '../../rack/boot/boot-session-fact.ts';
import { read } from '../../rack/fact.ts';
import type { ObservedTarget, Property, View } from '../../rack/resource.ts';
import type { ObservedNode } from './plan.ts';

function observedNode({ desired: { name }, facts }: ObservedTarget, properties: readonly Property[]): ObservedNode {
  const session = read(facts, bootSessionFact);
  const seen: [string, Json][] = properties
    .filter(({ node }) => node === name)
    .map(({ address, observed }) => [
      address,
      observed.kind === 'known' ? { value: observed.value } : { unknown: observed.reason },
    ]);
  return {
    bootSession: session.kind === 'known' ? session.value.uuid : null,
    hash: digestOf(Object.fromEntries(seen)),
  };
}

/** What a plan was made from, by node: when any of it differs at the next look, the plan is stale. */
export const observedNodes = (
  { targets }: View,
  properties: readonly Property[],
): Readonly<Record<string, ObservedNode>> =>
  Object.fromEntries(targets.map((target) => [target.desired.name, observedNode(target, properties)]));
