import { diagnose } from '../../diagnostics/diagnose.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { identityDigest } from '../../model/facts/mac.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { hardwareDifferences, isOtherMac, nodesOfOneMac } from './identity.ts';
import { identityFact } from './identity-fact.ts';

/** Whether the lock knows the Mac that answered as this node. */
function isSeenAs({ identity }: DesiredNode, facts: ExaminedNode['facts']): boolean {
  const seen = readValue(facts, identityFact);
  return identity !== undefined && seen !== undefined && identityDigest(seen) === identity;
}

function hint({ desired }: Examination, { name, desired: own, facts }: ExaminedNode): Prose {
  const serial = readValue(facts, identityFact)?.serial;
  const meant = desired.nodes.find((node) => node.name !== name && node.hardware.serial === serial);
  const known = desired.nodes.find((node) => node.name !== name && isSeenAs(node, facts));
  if (known !== undefined)
    return prose`This is the Mac of ${known.name}: correct the addresses of ${named(name)} and ${known.name} in the file.`;
  if (isOtherMac({ desired: own, facts })) {
    const replace = withCommands('If another Mac stands there now', [meshwright('replace', name)]);
    return prose`${replace}\nElse correct the address (${own.host}) in the file.`;
  }
  return serial !== undefined && meant !== undefined
    ? prose`This is the Mac of ${meant.name}: correct the addresses of ${named(name)} and ${meant.name} in the file.`
    : prose`Correct the address (${own.host}) or the hardware section of ${named(name)} in the file.`;
}

/** Nodes behind whose address another Mac answers than the file describes; one that is also another node is told as that. */
export const wrongMac = defineRule(
  {
    'identity/wrong-mac': {
      severity: 'error',
      summary: 'Another Mac answers than the one in the file.',
      cause: 'Serial number, model or memory differ from the hardware section of the node.',
      hint: 'Correct the address or the hardware section of this node in the file.',
      role: { blocks: 'identity' },
      facts: [identityFact],
    },
  },
  (examination, codes) => {
    const twins = new Set(nodesOfOneMac(examination).flat());
    return examination.nodes.flatMap((node) => {
      const found = twins.has(node) ? [] : hardwareDifferences(node);
      return found.length === 0
        ? []
        : [
            diagnose(codes['identity/wrong-mac'], {
              subject: nodeSubject(node.name),
              detail: prose`Another Mac answers as ${named(node.name)}: ${found.join('; ')}.`,
              hint: hint(examination, node),
            }),
          ];
    });
  },
);
