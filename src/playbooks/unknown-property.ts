import { listText, suggesterAmong } from '../desired/did-you-mean.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { kindsByFile, propertiesByFile } from '../resources/properties-by-file.ts';
import { resources } from '../resources/registry.ts';

/** Which properties there are instead, where no Mac of the fleet can have the one that an `assert` names. */
export function unknownProperty(address: string, fleet: DesiredFleet): string | undefined {
  const found = propertiesByFile(fleet);
  const isOf = (kind: string) => (one: string) => one === kind || one.startsWith(`${kind}/`);
  const kind = resources.map((one) => one.kind).find((one) => isOf(one)(address));
  if (found.includes(address) || (kind !== undefined && !kindsByFile.includes(kind))) return undefined;
  const near = suggesterAmong(found)(address);
  if (near !== undefined) return `Did you mean \`${near}\`?`;
  const own = kind === undefined ? [] : found.filter(isOf(kind));
  return `Known here: ${listText(own.length > 0 ? own : found)}.`;
}
