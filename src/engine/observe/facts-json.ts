import type { FactsNode } from '../../model/documents.generated.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { UnknownReason } from '../../model/known.ts';
import { factNamed } from '../../rack/fact.ts';
import { type FactName, type FactValues, factNames } from './facts.ts';

/** One fact in `facts --json`. */
type FactJson<T> = { readonly value: T } | { readonly unknown: UnknownReason; readonly detail: string };

/** What the list of facts makes of a node; the compiler compares it with schemas/facts.schema.json. */
type FactsJson = { readonly [K in FactName]?: FactJson<FactValues[K]> };

/** These facts of one node as `facts --json` has them under the node's name. */
export function factsJson(facts: Facts, names: readonly FactName[] = factNames): FactsNode {
  const entries = names.map((name) => {
    const fact = factNamed(facts, name);
    return [name, fact.kind === 'known' ? { value: fact.value } : { unknown: fact.reason, detail: fact.detail }];
  });
  const node: FactsJson = Object.fromEntries(entries);
  return node;
}
