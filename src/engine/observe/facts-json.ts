import type { Facts } from '../../model/facts/fact-values.ts';
import type { UnknownReason } from '../../model/known.ts';
import { factNamed } from '../../rack/fact.ts';
import { type FactName, type FactValues, factNames } from './facts.ts';

/** One fact in `facts --json`. */
export type FactJson<T> = { readonly value: T } | { readonly unknown: UnknownReason; readonly detail: string };

/** One node in `facts --json`; see schemas/facts.schema.json. */
export type FactsJson = { readonly [K in FactName]: FactJson<FactValues[K]> };

/** The facts of one node as `facts --json` has them under the node's name. */
export function factsJson(facts: Facts): FactsJson {
  const entries = factNames.map((name) => {
    const fact = factNamed(facts, name);
    return [name, fact.kind === 'known' ? { value: fact.value } : { unknown: fact.reason, detail: fact.detail }];
  });
  return Object.fromEntries(entries) as FactsJson;
}
