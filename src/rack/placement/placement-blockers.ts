import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { RebootMark } from '../../model/facts/node-records.ts';
import { seenValue } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { nodesSubject, placementSubject } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { read } from '../fact.ts';
import { budgetWords, hasOneLeft, isNeverEnough } from '../rdma/launch-budget.ts';
import type { Blocker, Gap, View } from '../resource.ts';
import { judgeProperty } from '../resource.ts';
import { checkBlockers } from './check/placement-checks.ts';
import { type Member, placementAddress, spentNodes } from './members.ts';
import { rebootMarkFact } from './observed/starts-fact.ts';
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
    return reboots.length === 0 ? tcpBlockers(one, view) : reboots;
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
    const nodes = mesh.members.filter(({ seen }) => isLast(seen, takesOfDevice(one))).map(({ node }) => node);
    if (nodes.length === 0) return [];
    const counts = nodes.map((node) => `on ${node} ${roomOn(one, node)}`);
    return [
      diagnose('mesh/last-start', {
        subject: placementSubject(one.placement.name),
        detail: `${placement.name} can be started over RDMA once more: ${counts.join('; ')}.`,
      }),
    ];
  });

const isLast = (seen: Member['seen'], takes: number): boolean =>
  seen.kind === 'known' && seen.value.budget.kind === 'known' && hasOneLeft(seen.value.budget.value, takes);

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
  const takes = takesOfDevice(one);
  const spent = spentNodes(mesh.members, takes);
  // What a whole boot session has no room for is refused by itself: no restart gives it any.
  if (spent.kind === 'unknown' || mesh.members.some((member) => isTooMuchFor(member, takes))) return [];
  if (desired.mayPassBudget === true) return [];
  const staying = spent.value.filter((node) => !restarting.includes(node));
  const together = placement.nodes.filter((node) => spent.value.includes(node) || restarting.includes(node));
  return staying.map((node) => ({
    code: 'mesh/launch-budget',
    node,
    resource: 'placement',
    property: placementAddress(placement.name),
    action: prose`${roomOn(one, node)}: ${meshwright('reboot', ...together)}`,
    isHands: false,
    peers: placement.nodes.filter((other) => other !== node),
    blocks: [],
  }));
}

/** A member that keeps its boot session, whose room for a start is unknown: what comes back after a restart may not start. */
export const placementGaps = (view: View): readonly Gap[] =>
  placementCases(view).flatMap(({ placement: { transport, nodes }, mesh, comesBack }) =>
    mesh.members
      .filter(({ node, seen }) => {
        const isUnknown = seen.kind === 'unknown' || seen.value.budget.kind === 'unknown';
        const isCounted = transport === 'rdma' && comesBack === 'after-restart' && !view.restarting.includes(node);
        return isUnknown && isCounted;
      })
      .map(({ node }) => ({
        node,
        resource: 'placement',
        peers: nodes.filter((other) => other !== node),
        text: 'the room in its RDMA devices',
      })),
  );

const isTooMuchFor = ({ seen }: Member, takes: number): boolean =>
  seen.kind === 'known' && seen.value.budget.kind === 'known' && isNeverEnough(seen.value.budget.value, takes);

/** A restart that came to the same twice comes to it a third time: what is wrong has to be mended before. */
function tcpBlockers(one: PlacementCase, { desired }: View): readonly PlacementBlocker[] {
  const { placement, leader, mesh } = one;
  if (placement.state !== 'serving' || mesh.state !== 'changed' || mesh.staysOn === undefined) return [];
  const runtime = desired.runtimes.find(({ name }) => name === placement.runtime);
  const failure = runtime === undefined ? undefined : meshFailure(mesh, driverOf(runtime));
  const why = failure === undefined ? 'no log says why' : `${failure.node} said "${escapeText(failure.line)}"`;
  return [
    {
      code: 'mesh/stays-on-tcp',
      node: leader,
      resource: 'placement',
      property: placementAddress(placement.name),
      action: prose`it was restarted, and its ranks talk over tcp again (${why}): ${meshwright('doctor')}, then ${aside(meshwright('reboot', ...placement.nodes))}; or transport: tcp in the file`,
      isHands: false,
      peers: placement.nodes.filter((other) => other !== leader),
      blocks: [],
    },
  ];
}

/** `3 of 3 places in its RDMA devices are taken`, and what a start wants of them where that is more than one. */
function roomOn(one: PlacementCase, node: string): string {
  const seen = one.mesh.members.find((member) => member.node === node)?.seen;
  const budget = seenValue(seen)?.budget;
  const words = budget?.kind === 'known' ? budgetWords(budget.value) : 'its RDMA devices have no room left';
  const takes = takesOfDevice(one);
  return takes === 1 ? words : `${words}, and this start takes ${takes}`;
}

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
function rebootBlockers(
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
