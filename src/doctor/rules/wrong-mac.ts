import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';
import { memoryText } from '../units.ts';

function differences({ desired, facts }: ExaminedNode): readonly string[] {
  const { model, memoryBytes, serial } = desired.hardware;
  const { hardware, identity } = facts;
  const found: string[] = [];
  if (serial !== undefined && identity.kind === 'known' && identity.value.serial !== serial) {
    found.push(`its serial number is ${identity.value.serial}, the file says ${serial}`);
  }
  if (hardware.kind === 'unknown') {
    return found;
  }
  if (model !== undefined && hardware.value.model !== model) {
    found.push(`it is a ${hardware.value.model}, the file says ${model}`);
  }
  if (memoryBytes !== undefined && hardware.value.memoryBytes !== memoryBytes) {
    found.push(`it has ${memoryText(hardware.value.memoryBytes)}, the file says ${memoryText(memoryBytes)}`);
  }
  return found;
}

function hint({ desired }: Examination, { name, desired: own, facts }: ExaminedNode): string {
  const serial = facts.identity.kind === 'known' ? facts.identity.value.serial : undefined;
  const meant = desired.nodes.find((node) => node.name !== name && node.hardware.serial === serial);
  return serial !== undefined && meant !== undefined
    ? `This is the Mac of ${meant.name}: correct the addresses of ${name} and ${meant.name} in the file.`
    : `Correct the address (${own.host}) or the hardware section of ${name} in the file.`;
}

/** Nodes behind whose address another Mac answers than the file describes. */
export const wrongMac: Rule = (examination) =>
  examination.nodes.flatMap((node) => {
    const found = differences(node);
    return found.length === 0
      ? []
      : [
          diagnose('identity/wrong-mac', {
            subject: nodeSubject(node.name),
            detail: `Another Mac answers as ${node.name}: ${found.join('; ')}.`,
            hint: hint(examination, node),
          }),
        ];
  });
