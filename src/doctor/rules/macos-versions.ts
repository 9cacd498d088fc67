import { diagnose } from '../../diagnostics/diagnose.ts';
import { cabledNodesByVersion } from '../macos.ts';
import type { Rule } from '../rule.ts';
import { nodesSubject } from '../subject.ts';

/**
 * Cabled nodes whose macOS versions (with the extra of a background security improvement) are not equal. The finding
 * is about those that are not on the most common version.
 */
export const macosVersions: Rule = (examination) => {
  const groups = [...cabledNodesByVersion(examination)].toSorted(
    ([a, nodesOfA], [b, nodesOfB]) => nodesOfB.length - nodesOfA.length || (a < b ? -1 : 1),
  );
  if (groups.length < 2) {
    return [];
  }
  const told = groups.map(([version, nodes]) => `${version} on ${nodes.map((node) => node.name).join(', ')}`);
  const odd = groups.slice(1).flatMap(([, nodes]) => nodes.map((node) => node.name));
  const target = examination.desired.macos.version ?? 'one version';
  return [
    diagnose('macos/versions-differ', {
      subject: nodesSubject(odd.toSorted()),
      detail: `Cabled nodes run different macOS versions: ${told.join('; ')}. RDMA peers may not see each other.`,
      hint: `Bring all cabled nodes to ${target}, with the same background security improvements.`,
    }),
  ];
};
