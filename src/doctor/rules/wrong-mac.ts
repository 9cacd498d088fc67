import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { hardwareDifferences, nodesOfOneMac } from '../identity.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

function hint({ desired }: Examination, { name, desired: own, facts }: ExaminedNode): string {
  const serial = facts.identity.kind === 'known' ? facts.identity.value.serial : undefined;
  const meant = desired.nodes.find((node) => node.name !== name && node.hardware.serial === serial);
  return serial !== undefined && meant !== undefined
    ? `This is the Mac of ${meant.name}: correct the addresses of ${name} and ${meant.name} in the file.`
    : `Correct the address (${own.host}) or the hardware section of ${name} in the file.`;
}

/** Nodes behind whose address another Mac answers than the file describes; one that is also another node is told as that. */
export const wrongMac: Rule = (examination) => {
  const twins = new Set(nodesOfOneMac(examination).flat());
  return examination.nodes.flatMap((node) => {
    const found = twins.has(node) ? [] : hardwareDifferences(node);
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
};
