import type { DesiredFleet } from '../../model/desired.ts';
import type { AddressParts } from '../../model/subject.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { settings } from '../../rack/settings/settings.ts';
import { factsWithoutAnswer } from '../observe/parse-facts.ts';
import { resources } from './resources.ts';
import { viewOf } from './view.ts';

/** Kinds whose properties follow from the file alone. Of the others, each Mac decides by what it has. */
export const kindsByFile: readonly ResourceKind[] = [
  ...settings.flatMap((one) => ('resource' in one ? [one.resource.kind] : [])),
  ...(['clock', 'thunderbolt-bridge', 'service-order', 'keeper'] as const),
];

/** The addresses of these properties by their text, from the file alone: `power/sleep`. */
export function propertiesByFile(fleet: DesiredFleet): ReadonlyMap<string, AddressParts> {
  const facts = factsWithoutAnswer('not-asked', 'only the file is read');
  const targets = fleet.nodes.map(({ name }) => name);
  const nodes = Object.fromEntries(targets.map((name) => [name, { node: name, facts }]));
  // A playbook is read before the placements of the file are settled.
  const desired = { ...fleet, placements: [], models: [], runtimes: [] };
  const view = viewOf({ desired, observation: { nodes, failures: {} }, targets });
  const own = resources.filter(({ kind }) => kindsByFile.includes(kind));
  const found = own.flatMap((one) => [...one.properties(view), ...(one.sights?.(view) ?? [])]);
  return new Map(found.map(({ address, about }) => [address, about]));
}
