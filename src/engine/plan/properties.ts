import { listText, suggesterAmong } from '../../desired/did-you-mean.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Json } from '../../model/digest.ts';
import type { Known } from '../../model/known.ts';
import { type AddressParts, typedKind } from '../../model/subject.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { propertyKey } from '../../rack/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { settings } from '../../rack/settings/settings.ts';
import { uninstallSights } from '../../rack/uninstall/uninstall-properties.ts';
import { factsWithoutAnswer } from '../observe/facts.ts';
import { resources } from './resources.ts';
import { viewOf } from './view.ts';

/** Which properties there are instead, where no Mac of the fleet can have the one that an `assert` names. */
export function unknownProperty(address: string, fleet: DesiredFleet): string | undefined {
  const found = propertiesByFile(fleet);
  const all = [...found.keys()];
  const kind = resources.map((one) => one.kind).find((one) => one === typedKind(address));
  if (found.has(address) || (kind !== undefined && !kindsByFile.includes(kind))) return undefined;
  const near = suggesterAmong(all)(address);
  if (near !== undefined) return `Did you mean \`${near}\`?`;
  const own = all.filter((one) => found.get(one)?.kind === kind);
  return `Known here: ${listText(own.length > 0 ? own : all)}.`;
}

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

/**
 * What every property of every node that answered is, by `<node> <address>`: what gates compare with what steps were
 * to establish. A property that a resource does not keep at the moment is not there.
 */
export function seenProperties(desired: DesiredFleet, observation: FleetObservation): ReadonlyMap<string, Known<Json>> {
  const view = viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) });
  const seen = resources.flatMap((resource) => [...resource.properties(view), ...(resource.sights?.(view) ?? [])]);
  return new Map([...seen, ...uninstallSights(desired, view.targets)].map((one) => [propertyKey(one), one.observed]));
}
