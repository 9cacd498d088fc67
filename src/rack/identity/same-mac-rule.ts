import { diagnose } from '../../diagnostics/diagnose.ts';
import { nodesSubject } from '../../model/subject.ts';
import { joinProse, named, prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { hardwareDifferences, nodesOfOneMac } from './identity.ts';
import { identityFact } from './identity-fact.ts';

/** Where the hardware sections of the file fit one of the nodes only, the addresses of the others are the wrong ones. */
function hint(same: readonly ExaminedNode[]): string {
  const names = same.map((node) => node.name);
  const fitting = same.filter((node) => hardwareDifferences(node).length === 0);
  const [only] = fitting;
  if (only === undefined || fitting.length > 1) {
    return `Correct the addresses of ${names.join(' and ')} in the file.`;
  }
  const others = names.filter((name) => name !== only.name).join(' and ');
  return `Correct the address of ${others} in the file: by its hardware the Mac is ${only.name}.`;
}

/** Nodes that answer with one hardware UUID, so that they are one Mac under several addresses. */
export const sameMac = defineRule(
  {
    'identity/same-mac': {
      severity: 'error',
      summary: 'Several nodes of the file are one and the same Mac.',
      cause:
        'The same hardware UUID answered under more than one address, so that nothing about their cables can be said.',
      hint: 'Correct the addresses in the file.',
      role: { blocks: 'identity' },
      facts: [identityFact],
    },
  },
  (examination, codes) =>
    nodesOfOneMac(examination).map((same) => {
      const hosts = same.map((node) => prose`${named(node.name)} (${node.desired.host})`);
      return diagnose(codes['identity/same-mac'], {
        subject: nodesSubject(same.map((node) => node.name)),
        detail: prose`${joinProse(hosts, ' and ')} are one and the same Mac.`,
        hint: hint(same),
      });
    }),
);
