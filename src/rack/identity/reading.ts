import { identityDigest } from '../../model/facts/mac.ts';
import { groupBy } from '../../model/lists.ts';
import { memoryText } from '../../model/text/units.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
import { hardwareFact, identityFact } from './fact.ts';

/** True if the Mac that answered is known to differ from the lock's Mac for this node. */
export const isOtherMac = ({ desired, facts }: Pick<ExaminedNode, 'desired' | 'facts'>): boolean => {
  const identity = read(facts, identityFact);
  return (
    desired.identity !== undefined && identity.kind === 'known' && identityDigest(identity.value) !== desired.identity
  );
};

/**
 * Describes how the Mac that answered differs from the file's hardware section or from the lock's Mac. Empty if no
 * difference is known.
 */
export function hardwareDifferences({ desired, facts }: Pick<ExaminedNode, 'desired' | 'facts'>): readonly string[] {
  const { model, memoryBytes, serial } = desired.hardware;
  const hardware = read(facts, hardwareFact);
  const identity = read(facts, identityFact);
  const found: string[] = [];
  if (serial !== undefined && identity.kind === 'known' && identity.value.serial !== serial) {
    found.push(`its serial number is ${identity.value.serial}, but the file has ${serial}`);
  }
  if (isOtherMac({ desired, facts })) found.push('it is not the Mac that the lock has under this name');
  if (hardware.kind === 'unknown') return found;
  if (model !== undefined && hardware.value.model !== model) {
    found.push(`its model is ${hardware.value.model}, but the file has ${model}`);
  }
  if (memoryBytes !== undefined && hardware.value.memoryBytes !== memoryBytes) {
    found.push(`its memory is ${memoryText(hardware.value.memoryBytes)}, but the file has ${memoryText(memoryBytes)}`);
  }
  return found;
}

/** Groups of two or more nodes that answered with the same hardware UUID. */
export function nodesOfOneMac({ nodes }: Examination): readonly (readonly ExaminedNode[])[] {
  const macs = groupBy(nodes, ({ facts }) => {
    const identity = read(facts, identityFact);
    return identity.kind === 'known' ? identity.value.hardwareUuid.toUpperCase() : undefined;
  });
  return [...macs.values()].filter((same) => same.length > 1);
}
