import { listText, suggesterAmong } from '../../desired/did-you-mean.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { typedKind } from '../../model/subject.ts';
import { kindsByFile, propertiesByFile } from '../plan/properties-by-file.ts';
import { resources } from '../plan/resources.ts';

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
