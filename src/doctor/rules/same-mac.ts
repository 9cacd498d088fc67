import { diagnose } from '../../diagnostics/diagnose.ts';
import { groupBy } from '../group-by.ts';
import type { Rule } from '../rule.ts';
import { nodesSubject } from '../subject.ts';

/** Nodes that answer with one hardware UUID, so that they are one Mac under several addresses. */
export const sameMac: Rule = ({ nodes }) => {
  const macs = groupBy(nodes, ({ facts: { identity } }) =>
    identity.kind === 'known' ? identity.value.hardwareUuid.toUpperCase() : undefined,
  );
  return [...macs.values()]
    .filter((same) => same.length > 1)
    .map((same) => {
      const names = same.map((node) => node.name);
      const hosts = same.map((node) => `${node.name} (${node.desired.host})`);
      return diagnose('identity/same-mac', {
        subject: nodesSubject(names),
        detail: `${hosts.join(' and ')} are one and the same Mac.`,
        hint: `Correct the addresses of ${names.join(' and ')} in the file.`,
      });
    });
};
