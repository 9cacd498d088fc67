import { canonicalJson } from '../model/digest.ts';
import type { Change, Patch } from '../model/step.ts';
import { propertyKey } from './property-key.ts';
import type { Property } from './resource.ts';

/** Whether a property is known to be as it should be, known to differ, or not known. */
export function judgeProperty({ desired, observed }: Property): 'met' | 'differs' | 'unknown' {
  if (observed.kind === 'unknown') {
    return 'unknown';
  }
  return canonicalJson(observed.value) === canonicalJson(desired) ? 'met' : 'differs';
}

/** The change that a differing property asks for. */
export const changeOf = (property: Property): Change => ({
  id: propertyKey(property),
  resource: property.address,
  about: property.about,
  node: property.node,
  from: property.from,
  to: property.to,
  reason: property.reason,
});

/** The properties that these changes are about. */
export function changedProperties(changes: readonly Change[], properties: readonly Property[]): readonly Property[] {
  const ids = new Set(changes.map(({ id }) => id));
  return properties.filter((one) => ids.has(propertyKey(one)));
}

/** What steps that change these properties establish. */
export const patchesOf = (properties: readonly Property[]): readonly Patch[] =>
  properties.map(({ node, address, about, desired }) => ({ node, address, about, value: desired }));
