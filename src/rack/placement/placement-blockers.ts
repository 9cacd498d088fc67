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
import { restartedNodes } from '../goal.ts';
import { swapWords } from '../memory/fact.ts';
import {
  budgetWords,
  hasOneLeft,
  isNeverEnough,
  type LaunchBudget,
  launchBudget,
} from '../rdma/launch-budget-reading.ts';
import { type Blocker, judgeProperty, type UnobservedDependency, type View } from '../resource.ts';
import { checkBlockers, startBlocker } from './check/placement-checks.ts';
import { type NodeRank, spentNodes } from './mesh/rank-states.ts';
import { meshFailure } from './mesh/read-mesh.ts';
import { rebootMarkFact } from './observed/fact.ts';
import { meshChange, type PlacementCase, placementCases, takesOfDevice } from './state/placement-cases.ts';
import { placementProperty } from './state/placement-properties.ts';

/** Codes of blockers that follow from a mesh's state; checks of the file have separate codes. */
export type PlacementBlockerCode =
  | 'memory/swap-in-use'
  | 'mesh/launch-budget'
  | 'mesh/reboot-mark'
  | 'mesh/stays-on-tcp';

type PlacementBlocker = Blocker & { readonly code: PlacementBlockerCode };

/** Blocks every start that cannot work: a failed check, a needed restart, no launch budget, or a return over TCP. */
export const placementBlockers = (view: View): readonly Blocker[] => [
  ...checkBlockers(view),
  ...placementCases(view).flatMap((one): readonly PlacementBlocker[] => {
    const marked = isToStart(one) ? [...rebootBlockers(view, one), ...swapBlockers(view, one)] : [];
    const isMarked = (node: string): boolean => marked.some((blocker) => blocker.node === node);
    const spent = budgetBlockers(one, view).filter(({ node }) => !isMarked(node));
    const reboots = [...marked, ...spent];
    return reboots.length === 0 ? tcpBlockers(one) : reboots;
  }),
];

/** One finding for each placement that does not serve and whose start a plan would refuse for lack of launch budget. */
export const budgetFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap((one) => {
    const spent = budgetBlockers(one, view);
    if (spent.length === 0) return [];
    const counts = spent.map(({ node }) => `on ${node}, ${roomOn(one, node)}`);
    const nodes = one.placement.nodes.filter((node) => spent.some((other) => other.node === node));
    return [
      diagnose('mesh/launch-budget', {
        subject: placementSubject(one.placement.name),
        detail: `${one.placement.name} is not serving, and a plan would refuse to start it: ${counts.join('; ')}.`,
        hint: withCommands('Restart these Macs to reset their launch budget', [meshwright('reboot', ...nodes)]),
      }),
    ];
  });

/** Serving placements with a node whose launch budget has room for exactly one more start over RDMA. */
export const lastStartFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap((one) => {
    const { placement, mesh } = one;
    if (placement.transport !== 'rdma' || placement.state !== 'serving') return [];
    const nodes = mesh.ranks.filter((rank) => hasBudget(rank, hasOneLeft, one)).map(({ node }) => node);
    if (nodes.length === 0) return [];
    const counts = nodes.map((node) => `on ${node}, ${roomOn(one, node)}`);
    return [
      diagnose('mesh/last-start', {
        subject: placementSubject(one.placement.name),
        detail: `${placement.name} has room for only one more start over RDMA: ${counts.join('; ')}.`,
      }),
    ];
  });

const budgetOf = (rank: NodeRank | undefined): LaunchBudget | undefined => seenValue(seenValue(rank?.seen)?.budget);

function hasBudget(
  rank: NodeRank,
  that: (budget: LaunchBudget, takes: number) => boolean,
  one: PlacementCase,
): boolean {
  const budget = budgetOf(rank);
  return budget !== undefined && that(budget, takesOfDevice(one));
}

/** True if the plan starts it, now or after it stops the ranks that answer. */
function isToStart(one: PlacementCase): boolean {
  if (one.comesBack !== 'no') return true;
  const isStart = one.placement.state === 'serving' && meshChange(one) !== 'keep';
  return isStart && judgeProperty(placementProperty(one)) === 'differs';
}

/** Nodes without budget for this start. A Mac that this plan restarts has its full budget again. */
function budgetBlockers(one: PlacementCase, { desired, goal }: View): readonly PlacementBlocker[] {
  const { placement, mesh } = one;
  const restarting = restartedNodes(goal);
  if (placement.transport !== 'rdma' || !isToStart(one)) return [];
  const spent = spentNodes(mesh.ranks, takesOfDevice(one));
  // A start that exceeds the limit of a boot session has a separate code, because no restart helps.
  if (spent.kind === 'unknown' || mesh.ranks.some((rank) => hasBudget(rank, isNeverEnough, one))) return [];
  if (desired.mayPassBudget === true) return [];
  const staying = spent.value.filter((node) => !restarting.includes(node));
  const together = placement.nodes.filter((node) => spent.value.includes(node) || restarting.includes(node));
  const reboot = meshwright('reboot', ...together);
  return staying.map((node) =>
    startBlocker(placement, { code: 'mesh/launch-budget', node, action: prose`${roomOn(one, node)}: ${reboot}` }),
  );
}

/** Nodes that do not restart and may have no launch left. Placements may be unable to start there again. */
export const unobservedDependencies = (view: View): readonly UnobservedDependency[] =>
  placementCases(view).flatMap(({ placement: { transport, nodes }, mesh, comesBack }) =>
    mesh.ranks
      .filter((rank) => {
        const isCounted =
          transport === 'rdma' && comesBack === 'after-restart' && !restartedNodes(view.goal).includes(rank.node);
        return isCounted && budgetOf(rank) === undefined;
      })
      .map(({ node }) => ({
        node,
        resource: 'placement',
        peers: nodes.filter((other) => other !== node),
        text: 'the number of free slots in the RDMA devices',
      })),
  );

/** If the file wants RDMA and two starts used TCP, a third would be the same: the cause has to be repaired first. */
function tcpBlockers({ placement, leader, mesh, driver }: PlacementCase): readonly PlacementBlocker[] {
  if (placement.state !== 'serving' || mesh.state !== 'changed' || mesh.usedTcp !== 'again') return [];
  const failure = driver && meshFailure(mesh, driver);
  const why = failure === undefined ? 'no log explains why' : `${failure.node} logged "${escapeText(failure.line)}"`;
  const action = prose`after a restart its ranks use tcp again (${why}): ${meshwright('doctor')}, then ${aside(meshwright('reboot', ...placement.nodes))}; or set transport: tcp in the file`;
  return [startBlocker(placement, { code: 'mesh/stays-on-tcp', node: leader, action })];
}

/** `3 of 3 slots of its RDMA devices are in use`, and the number of slots that a start needs if it is more than one. */
function roomOn(one: PlacementCase, node: string): string {
  const budget = budgetOf(one.mesh.ranks.find((rank) => rank.node === node));
  const words = budget === undefined ? 'its RDMA devices have no room left' : budgetWords(budget);
  const takes = takesOfDevice(one);
  return takes === 1 ? words : `${words}, and this start needs ${takes}`;
}

const gibibytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);

function markWords({ why, wiredBytes = 0, baselineBytes = 0 }: RebootMark): string {
  return why === 'kernel'
    ? 'a process survived SIGKILL'
    : `${gibibytes(wiredBytes)} GiB of memory remained wired (${gibibytes(baselineBytes)} GiB before any rank ran)`;
}

const markedNodes = ({ observation }: View, isIncluded: (node: NodeName) => boolean) =>
  Object.values(observation.nodes)
    .filter(({ node }) => isIncluded(node))
    .flatMap(({ node, facts }) => (readValue(facts, rebootMarkFact) ?? []).map((mark) => ({ node, mark })));

export const rebootFindings = (view: View): readonly Diagnostic[] =>
  markedNodes(view, () => true).map(({ node, mark }) =>
    diagnose('mesh/reboot-mark', {
      subject: nodesSubject([node]),
      detail: prose`When the rank of ${escapeText(mark.placement)} on ${named(node)} was stopped, ${markWords(mark)}.`,
      hint: prose`Restart this Mac. Until then nothing is started there: ${meshwright('reboot', node)}`,
    }),
  );

export const markedAmong = (view: View, nodes: readonly NodeName[]): readonly NodeName[] => [
  ...new Set(markedNodes(view, (node) => nodes.includes(node)).map(({ node }) => node)),
];

function rebootBlockers(view: View, { placement }: PlacementCase): readonly PlacementBlocker[] {
  const restarting = restartedNodes(view.goal);
  const marked = markedNodes(view, (node) => placement.nodes.includes(node) && !restarting.includes(node));
  return marked.map(({ node, mark }) => {
    const action = prose`${markWords(mark)}: ${meshwright('reboot', node)}`;
    return startBlocker(placement, { code: 'mesh/reboot-mark', node, action });
  });
}

function swapBlockers(view: View, { placement }: PlacementCase): readonly PlacementBlocker[] {
  return placement.nodes.flatMap((node) => {
    const isRestarting = restartedNodes(view.goal).includes(node);
    const words = isRestarting ? undefined : swapWords(view.observation.nodes[node]?.facts);
    if (words === undefined) return [];
    const action = prose`${words}. Quit the program that uses the memory, or restart the Mac: ${meshwright('reboot', node)}`;
    return [startBlocker(placement, { code: 'memory/swap-in-use', node, action })];
  });
}

/** One node's launch budget; unknown if its start count or its limits were not observed. */
export interface NodeBudget {
  readonly node: NodeName;
  readonly budget: Known<LaunchBudget>;
}

/** True if a start over RDMA is possible on this node or has already happened. */
function isConcerned({ desired }: View, node: NodeName, budget: Known<LaunchBudget>): boolean {
  const isPlaced = desired.placements
    .flatMap(layoutsOf)
    .some(({ transport, nodes }) => transport === 'rdma' && nodes.includes(node));
  return (isPlaced && needsRdma(desired, node)) || (budget.kind === 'known' && budget.value.taken > 0);
}

/** Launch budgets of the observed nodes where starts over RDMA matter. */
export const launchBudgets = (view: View): readonly NodeBudget[] =>
  view.targets
    .map(({ desired, facts }): NodeBudget => ({ node: desired.name, budget: launchBudget(facts) }))
    .filter(({ node, budget }) => isConcerned(view, node, budget));
