import { layoutsOf, needsRdma } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { RebootMark } from '../../model/facts/node-records.ts';
import { type Known, seenValue } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { nodesSubject, placementSubject } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { readValue } from '../fact.ts';
import { budgetWords, hasOneLeft, isNeverEnough, type LaunchBudget, launchBudget } from '../rdma/launch-budget.ts';
import { type Blocker, type Gap, judgeProperty, type View } from '../resource.ts';
import { checkBlockers, startBlocker } from './check/placement-checks.ts';
import { type Member, spentNodes } from './members.ts';
import { rebootMarkFact } from './observed/fact.ts';
import { meshFailure } from './state/judge-mesh.ts';
import { type PlacementCase, placementCases, takesOfDevice } from './state/placement-cases.ts';
import { placementProperty } from './state/placement-properties.ts';

/** The codes of the blockers that a mesh itself puts before a start; those of its file come from its checks. */
export const placementBlockerCodes = ['mesh/launch-budget', 'mesh/needs-reboot', 'mesh/stays-on-tcp'] as const;

/** One of them. */
export type PlacementBlockerCode = (typeof placementBlockerCodes)[number];

/** A blocker with one of them: a new one is a new entry of the list. */
type PlacementBlocker = Blocker & { readonly code: PlacementBlockerCode };

/**
 * Placements that do not fit or that their driver refuses, those that would have to be started on a Mac that needs a
 * restart first, or whose budget of starts is spent, and those that came back over TCP after a restart, too.
 */
export const placementBlockers = (view: View): readonly Blocker[] => [
  ...checkBlockers(view),
  ...placementCases(view).flatMap((one): readonly PlacementBlocker[] => {
    const marked = isToStart(one) ? rebootBlockers(view, one) : [];
    const isMarked = (node: string): boolean => marked.some((blocker) => blocker.node === node);
    const spent = budgetBlockers(one, view).filter(({ node }) => !isMarked(node));
    const reboots = [...marked, ...spent];
    return reboots.length === 0 ? tcpBlockers(one) : reboots;
  }),
];

/** Placements whose start would be refused for want of a launch budget, as a plan would refuse it; one finding each. */
export const budgetFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap((one) => {
    const spent = budgetBlockers(one, view);
    const [first] = spent;
    if (first === undefined) return [];
    const counts = spent.map(({ node }) => `on ${node} ${roomOn(one, node)}`);
    const command = meshwright(
      'reboot',
      ...one.placement.nodes.filter((node) => spent.some((other) => other.node === node)),
    );
    return [
      diagnose('mesh/launch-budget', {
        subject: placementSubject(one.placement.name),
        detail: `${one.placement.name} does not serve, and its start would be refused: ${counts.join('; ')}.`,
        hint: withCommands('Restart these Macs, which gives them their whole budget again', [command]),
      }),
    ];
  });

/** Members that have room for one more start over RDMA, and for none behind that. */
export const lastStartFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap((one) => {
    const { placement, mesh } = one;
    if (placement.transport !== 'rdma' || placement.state !== 'serving') return [];
    const nodes = mesh.members.filter((member) => hasBudget(member, hasOneLeft, one)).map(({ node }) => node);
    if (nodes.length === 0) return [];
    const counts = nodes.map((node) => `on ${node} ${roomOn(one, node)}`);
    return [
      diagnose('mesh/last-start', {
        subject: placementSubject(one.placement.name),
        detail: `${placement.name} can be started over RDMA once more: ${counts.join('; ')}.`,
      }),
    ];
  });

const budgetOf = (member: Member | undefined): LaunchBudget | undefined => seenValue(seenValue(member?.seen)?.budget);

/** Whether the budget of a member is known, and holds this against what a start takes. */
function hasBudget(
  member: Member,
  that: (budget: LaunchBudget, takes: number) => boolean,
  one: PlacementCase,
): boolean {
  const budget = budgetOf(member);
  return budget !== undefined && that(budget, takesOfDevice(one));
}

/** Whether a start of it follows now, or behind the stop of what answers. */
function isToStart(one: PlacementCase): boolean {
  const { placement, mesh, comesBack } = one;
  if (comesBack !== undefined) return true;
  const differs = judgeProperty(placementProperty(one)) === 'differs';
  return placement.state === 'serving' && mesh.state !== 'serving' && differs;
}

/** A Mac that this plan restarts has its whole budget again. */
function budgetBlockers(one: PlacementCase, { desired, restarting }: View): readonly PlacementBlocker[] {
  const { placement, mesh } = one;
  if (placement.transport !== 'rdma' || !isToStart(one)) return [];
  const spent = spentNodes(mesh.members, takesOfDevice(one));
  // What a whole boot session has no room for is refused by itself: no restart gives it any.
  if (spent.kind === 'unknown' || mesh.members.some((member) => hasBudget(member, isNeverEnough, one))) return [];
  if (desired.mayPassBudget === true) return [];
  const staying = spent.value.filter((node) => !restarting.includes(node));
  const together = placement.nodes.filter((node) => spent.value.includes(node) || restarting.includes(node));
  const reboot = meshwright('reboot', ...together);
  return staying.map((node) =>
    startBlocker(placement, { code: 'mesh/launch-budget', node, action: prose`${roomOn(one, node)}: ${reboot}` }),
  );
}

/** A member that keeps its boot session, whose room for a start is unknown: what comes back after a restart may not start. */
export const placementGaps = (view: View): readonly Gap[] =>
  placementCases(view).flatMap(({ placement: { transport, nodes }, mesh, comesBack }) =>
    mesh.members
      .filter((member) => {
        const isCounted =
          transport === 'rdma' && comesBack === 'after-restart' && !view.restarting.includes(member.node);
        return isCounted && budgetOf(member) === undefined;
      })
      .map(({ node }) => ({
        node,
        resource: 'placement',
        peers: nodes.filter((other) => other !== node),
        text: 'the room in its RDMA devices',
      })),
  );

/** A restart that came to the same twice comes to it a third time: what is wrong has to be mended before. */
function tcpBlockers({ placement, leader, mesh, driver }: PlacementCase): readonly PlacementBlocker[] {
  if (placement.state !== 'serving' || mesh.state !== 'changed' || mesh.staysOn === undefined) return [];
  const failure = driver && meshFailure(mesh, driver);
  const why = failure === undefined ? 'no log says why' : `${failure.node} said "${escapeText(failure.line)}"`;
  const action = prose`it was restarted, and its ranks talk over tcp again (${why}): ${meshwright('doctor')}, then ${aside(meshwright('reboot', ...placement.nodes))}; or transport: tcp in the file`;
  return [startBlocker(placement, { code: 'mesh/stays-on-tcp', node: leader, action })];
}

/** `3 of 3 places in its RDMA devices are taken`, and what a start wants of them where that is more than one. */
function roomOn(one: PlacementCase, node: string): string {
  const budget = budgetOf(one.mesh.members.find((member) => member.node === node));
  const words = budget === undefined ? 'its RDMA devices have no room left' : budgetWords(budget);
  const takes = takesOfDevice(one);
  return takes === 1 ? words : `${words}, and this start takes ${takes}`;
}

const gibibytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);

/** What a stop has found, in words that go on after the name of its placement. */
function markWords({ why, wiredBytes = 0, baselineBytes = 0 }: RebootMark): string {
  return why === 'kernel'
    ? 'not even KILL ended it'
    : `${gibibytes(wiredBytes)} GiB stayed wired, ${gibibytes(baselineBytes)} GiB were before any rank ran`;
}

const markedNodes = ({ observation }: View, isMeant: (node: NodeName) => boolean) =>
  Object.values(observation.nodes)
    .filter(({ node }) => isMeant(node))
    .flatMap(({ node, facts }) => (readValue(facts, rebootMarkFact) ?? []).map((mark) => ({ node, mark })));

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
function rebootBlockers(view: View, { placement }: PlacementCase): readonly PlacementBlocker[] {
  const marked = markedNodes(view, (node) => placement.nodes.includes(node) && !view.restarting.includes(node));
  return marked.map(({ node, mark }) => {
    const action = prose`${markWords(mark)}: ${meshwright('reboot', node)}`;
    return startBlocker(placement, { code: 'mesh/needs-reboot', node, action });
  });
}

/** The budget of launches of one node; unknown where its count or its limits were not observed. */
export interface NodeBudget {
  readonly node: NodeName;
  readonly budget: Known<LaunchBudget>;
}

/** Whether a start over RDMA can come to this node, or has been there. */
function isConcerned({ desired }: View, node: NodeName, budget: Known<LaunchBudget>): boolean {
  const isPlaced = desired.placements
    .flatMap(layoutsOf)
    .some(({ transport, nodes }) => transport === 'rdma' && nodes.includes(node));
  return (isPlaced && needsRdma(desired, node)) || (budget.kind === 'known' && budget.value.taken > 0);
}

/** The budgets of the nodes that were looked at, where starts over RDMA matter. */
export const launchBudgets = (view: View): readonly NodeBudget[] =>
  view.targets
    .map(({ desired, facts }): NodeBudget => ({ node: desired.name, budget: launchBudget(facts) }))
    .filter(({ node, budget }) => isConcerned(view, node, budget));
