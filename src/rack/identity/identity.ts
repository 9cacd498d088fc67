import { identityDigest } from '../../model/facts/mac.ts';
import { groupBy } from '../../model/lists.ts';
import { memoryText } from '../../model/text/units.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
import { hardwareFact, identityFact } from './fact.ts';

/** Whether the Mac that answered is known to be another one than the lock has for this node. */
export const isOtherMac = ({ desired, facts }: Pick<ExaminedNode, 'desired' | 'facts'>): boolean => {
  const identity = read(facts, identityFact);
  return (
    desired.identity !== undefined && identity.kind === 'known' && identityDigest(identity.value) !== desired.identity
  );
};

/**
 * In what the Mac that answered differs from the hardware section of the file, or from the Mac that the lock knows, in
 * words; empty when in nothing known.
 */
export function hardwareDifferences({ desired, facts }: Pick<ExaminedNode, 'desired' | 'facts'>): readonly string[] {
  const { model, memoryBytes, serial } = desired.hardware;
  const hardware = read(facts, hardwareFact);
  const identity = read(facts, identityFact);
  const found: string[] = [];
  if (serial !== undefined && identity.kind === 'known' && identity.value.serial !== serial) {
    found.push(`its serial number is ${identity.value.serial}, the file says ${serial}`);
  }
  if (isOtherMac({ desired, facts })) found.push('it is not the Mac that the lock knows under this name');
  if (hardware.kind === 'unknown') return found;
  if (model !== undefined && hardware.value.model !== model) {
    found.push(`it is a ${hardware.value.model}, the file says ${model}`);
  }
  if (memoryBytes !== undefined && hardware.value.memoryBytes !== memoryBytes) {
    found.push(`it has ${memoryText(hardware.value.memoryBytes)}, the file says ${memoryText(memoryBytes)}`);
  }
  return found;
}

/** Groups of two or more nodes that answered with one hardware UUID. */
export function nodesOfOneMac({ nodes }: Examination): readonly (readonly ExaminedNode[])[] {
  const macs = groupBy(nodes, ({ facts }) => {
    const identity = read(facts, identityFact);
    return identity.kind === 'known' ? identity.value.hardwareUuid.toUpperCase() : undefined;
  });
  return [...macs.values()].filter((same) => same.length > 1);
}
