import { identityDigest } from '../../model/facts/mac.ts';
import { groupBy } from '../../model/lists.ts';
import { memoryText } from '../../model/text/units.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { hardwareFact, identityFact } from './fact.ts';

export const isOtherMac = ({ desired, facts }: Pick<ExaminedNode, 'desired' | 'facts'>): boolean => {
  const seen = readValue(facts, identityFact);
  return desired.identity !== undefined && seen !== undefined && identityDigest(seen) !== desired.identity;
};

/** How the Mac that answered differs from the file's hardware or the lock's Mac; empty if not known to differ. */
export function hardwareDifferences({ desired, facts }: Pick<ExaminedNode, 'desired' | 'facts'>): readonly string[] {
  const { model, memoryBytes, serial } = desired.hardware;
  const hardware = readValue(facts, hardwareFact);
  const seenSerial = readValue(facts, identityFact)?.serial;
  const found: string[] = [];
  if (serial !== undefined && seenSerial !== undefined && seenSerial !== serial) {
    found.push(`its serial number is ${seenSerial}, but the file has ${serial}`);
  }
  if (isOtherMac({ desired, facts })) found.push('it is not the Mac that the lock has under this name');
  if (hardware === undefined) return found;
  if (model !== undefined && hardware.model !== model) {
    found.push(`its model is ${hardware.model}, but the file has ${model}`);
  }
  if (memoryBytes !== undefined && hardware.memoryBytes !== memoryBytes) {
    found.push(`its memory is ${memoryText(hardware.memoryBytes)}, but the file has ${memoryText(memoryBytes)}`);
  }
  return found;
}

/** Groups of two or more nodes that answered with the same hardware UUID. */
export function nodesOfOneMac({ nodes }: Examination): readonly (readonly ExaminedNode[])[] {
  const macs = groupBy(nodes, ({ facts }) => readValue(facts, identityFact)?.hardwareUuid.toUpperCase());
  return [...macs.values()].filter((same) => same.length > 1);
}
