import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import type { RebootMark } from '../../../model/facts/node-records.ts';
import type { NodeName } from '../../../model/node.ts';
import { nodesSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { named, prose } from '../../../model/text/prose.ts';
import { read } from '../../fact.ts';
import type { Blocker, View } from '../../resource.ts';
import { placementAddress } from '../members/mesh-step.ts';
import { rebootMarkFact } from '../observed/reboot-mark-fact.ts';
import type { PlacementCase } from '../state/placement-cases.ts';

interface MarkedNode {
  readonly node: NodeName;
  readonly mark: RebootMark;
}

const gibibytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);

/** What a stop has found, in words that go on after the name of its placement. */
function markWords({ why, wiredBytes = 0, baselineBytes = 0 }: RebootMark): string {
  return why === 'kernel'
    ? 'not even KILL ended it'
    : `${gibibytes(wiredBytes)} GiB stayed wired, ${gibibytes(baselineBytes)} GiB were before any rank ran`;
}

function markedNodes({ observation }: View, isMeant: (node: NodeName) => boolean): readonly MarkedNode[] {
  return Object.values(observation.nodes)
    .filter(({ node }) => isMeant(node))
    .flatMap(({ node, facts }) => {
      const marks = read(facts, rebootMarkFact);
      return marks.kind === 'known' ? marks.value.map((mark) => ({ node, mark })) : [];
    });
}

/** Nodes on which nothing is started before they were restarted, each with its reason. */
export const rebootFindings = (view: View): readonly Diagnostic[] =>
  markedNodes(view, () => true).map(({ node, mark }) =>
    diagnose('mesh/needs-reboot', {
      subject: nodesSubject([node]),
      detail: prose`When the rank of ${escapeText(mark.placement)} on ${named(node)} was stopped, ${markWords(mark)}.`,
      hint: prose`Restart it; nothing is started there until then: ${meshwright('reboot', node)}`,
    }),
  );

/** Of these nodes those that need a restart before anything is started there. */
export const markedAmong = (view: View, nodes: readonly NodeName[]): readonly NodeName[] => [
  ...new Set(markedNodes(view, (node) => nodes.includes(node)).map(({ node }) => node)),
];

/** A placement that is to be started on a node that needs a restart first, and that this plan does not restart. */
export function rebootBlockers(
  view: View,
  { placement }: PlacementCase,
): readonly (Blocker & { readonly code: 'mesh/needs-reboot' })[] {
  const marked = markedNodes(view, (node) => placement.nodes.includes(node) && !view.restarting.includes(node));
  return marked.map(({ node, mark }) => ({
    code: 'mesh/needs-reboot',
    node,
    resource: 'placement',
    property: placementAddress(placement.name),
    action: prose`${markWords(mark)}: ${meshwright('reboot', node)}`,
    isHands: false,
    peers: placement.nodes.filter((other) => other !== node),
    blocks: [],
  }));
}
