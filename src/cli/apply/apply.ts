import { thisController } from '../../apply/lease/controller.ts';
import { isDeadHere, releaseLeaseOf } from '../../apply/lease/lease-keeper.ts';
import { openSession } from '../../apply/reach/session.ts';
import { pause } from '../../apply/run-timing.ts';
import { isInside, parseIpv4Network } from '../../desired/addresses.ts';
import { withIdentities, withNodes, withoutFormerNetworks } from '../../desired/settle/settle.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredNode, Ipv4Network } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { identityDigest } from '../../model/facts/mac.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { upperFirst } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';
import { identityFact } from '../../rack/identity/fact.ts';
import { interfacesFact } from '../../rack/network/interfaces-fact.ts';
import { serviceAddressesFact } from '../../rack/network/service-addresses-fact.ts';
import { leasesFact } from '../../rack/records/leases-fact.ts';
import { counted } from '../../report/page.ts';
import { hasMachineSteps } from '../../report/plan/plan-text.ts';
import { keepLock, targetedNodes } from '../cluster/open-cluster.ts';
import { refuseUnresolved, type SettledCluster, settleCluster } from '../cluster/settle-cluster.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { type ObservedPlan, observeAndPlan, observeAndSettle } from '../look/observe-and-plan.ts';
import { createConsent } from '../plan/consent.ts';
import {
  isHashedPlan,
  narrowed,
  planDocument,
  readApplyWords,
  readReviewed,
  requireReviewed,
  requireSame,
  showPlan,
} from '../plan/plan-document.ts';
import { timingFor, useLimits } from '../use-limits.ts';
import { type Run, usageError } from '../verb.ts';
import { actOn, type CommandSpec, shippedPlaybook } from './act-on.ts';
import { checkGoal } from './final-check.ts';
import { type ClusterTargets, hashFirst, isFullVerify } from './hash-first.ts';
import { makeLists } from './make-lists.ts';
import type { EndedRun, RunOutcome } from './run-outcome.ts';
import { servingHere, servingLines, servingPlacements } from './serving-lines.ts';

/**
 * `apply [NODE…|PLANFILE]`: observes, shows the plan, asks, runs exactly this plan, and checks the result. With
 * `--wait-for-hands`, repeats this after each manual step.
 * @param choose selects the nodes, or an earlier plan
 */
export async function apply(run: Run, choose: Choose = readApplyWords): Promise<EndedRun> {
  const first = await showFirstPlan(run, choose);
  if ('ended' in first) return first.ended;
  const { planned, hashed, consent, ...about } = first;
  const { cluster, targets, ways } = about;
  const { fleet, additions, lockPlace } = cluster;
  const scope = { desired: fleet, targets };
  const waits: Waits = { visited: new Set(), reported: '' };
  let lock: ClusterLock | undefined;
  let isLockWritten = false;
  const command: CommandSpec = {
    verb: 'apply',
    playbook: shippedPlaybook('apply'),
    scope,
    consent,
    check: checkGoal({ kind: 'converge' }, scope),
    texts: { question: (plan) => question(run, plan, cluster) },
    first: {
      planned,
      isAlwaysAsked: newLines(run, cluster).length > 0,
      onAgreed: async (agreed) => {
        const reached = Object.keys(agreed.plan.observed).filter((name) => targets.some((one) => one === name));
        lock = withIdentities(withNodes(cluster.lock, reached), seenIdentities(agreed, reached));
        if (await keepLock(lockPlace, lock, reached)) isLockWritten = true;
      },
      next: (outcome) => planAfterHands(run, about, outcome, waits),
    },
    ending: async ({ report, last }) => {
      const written = { written: isLockWritten, additions };
      const found = given({ hashed: hashed?.hashed, found: hashed?.found });
      if (last === undefined) return { lock: written, ...found };
      const { observation } = last;
      if (lock !== undefined && report.works.length > 0) {
        // Networks that no node uses any more become available.
        const vacant = vacantNetworks(lock, fleet, observation);
        if (vacant.length > 0) await keepLock(lockPlace, withoutFormerNetworks(lock, vacant));
      }
      const nodes = fleet.nodes.filter(({ name }) => targets.includes(name));
      if (!report.isDeclined && !run.signal.aborted) await releaseDeadLeases(run, nodes, ways, observation);
      const serving = await servingHere(run, servingPlacements(viewOf({ desired: fleet, observation, targets })));
      return { lock: written, ...found, serving, closing: servingLines(serving, fleet) };
    },
  };
  return actOn(run, command, cluster, ways);
}

/** Releases leases of this computer's ended processes. Otherwise only a run that changes the node takes them over. */
async function releaseDeadLeases(
  run: Run,
  nodes: readonly DesiredNode[],
  ways: SshTargets,
  observation: FleetObservation,
): Promise<void> {
  const controller = await thisController();
  const release = async (node: DesiredNode): Promise<void> => {
    const leases = read(observation.nodes[node.name]?.facts, leasesFact);
    const { fields = {} } = (leases?.kind === 'known' ? leases.value[0] : undefined) ?? {};
    const { run: id, token = '' } = fields;
    if (id === undefined || !/^\d{1,15}$/.test(token) || !(await isDeadHere({ fields }, controller))) return;
    for (const target of await ways.toAll([node])) {
      const limits = useLimits(run);
      const session = openSession(target, { ...limits, retryMs: timingFor(run).retryMs });
      const released = await releaseLeaseOf(session, { run: id, token: Number(token) }, limits.deadlineMs);
      session.close();
      if (released.kind === 'released') run.console.err(`${node.name}: released the lease of a run that has ended\n`);
    }
  };
  // A node that does not answer must not hold the others.
  await Promise.all(nodes.map(release));
}

type Choose = (...about: Parameters<typeof readApplyWords>) => ReturnType<typeof readApplyWords>;

/** Resolves the cluster file, observes the targets, and shows the plan; with `--verify=full`, hashes models first. */
async function showFirstPlan(run: Run, choose: Choose) {
  const isFull = isFullVerify(run);
  const first = await settleCluster(run);
  const { nodes, saved } = choose(run, first.fleet);
  const reviewed = readReviewed(run);
  if (saved !== undefined && reviewed !== undefined) {
    throw usageError('--reviewed cannot be combined with a saved plan.', 'Leave out one of the two files.');
  }
  const targets = targetedNodes(run, first.fleet, saved?.targets ?? nodes).map(({ name }) => name);
  // A user at a terminal sees the lock's new lines together with the plan.
  const canBeSeen = run.console.canAsk && !run.options.json;
  if (!canBeSeen && run.own['updateLock'] !== true) refuseUnresolved(run, first);
  // A saved plan is consent in advance.
  const policy = {
    allowable: ['interrupt', 'rdma-start'],
    ...(saved && { isAgreed: true }),
    ...given({ reviewed: reviewed?.digest }),
  } as const;
  const ways = openTargets(run, first.opened);
  // A saved plan is run as it was made, and a reviewed plan is compared as it was made.
  const work = { cluster: first, targets, ways, consent: createConsent(run, policy) };
  const isMade = saved !== undefined || reviewed !== undefined;
  const made = isMade ? undefined : await makeLists(run, work);
  const consent = createConsent(run, { ...policy, ...given({ hasChanged: made?.hasChanged }) });
  const isSame = made === undefined || run.signal.aborted;
  const settled = isSame ? first : await settleCluster(run, first.opened, made.missing);
  const isHashing = isFull || (saved !== undefined && isHashedPlan(saved));
  const hashed = isHashing ? await hashFirst(run, { cluster: settled, targets, ways }) : undefined;
  if (hashed?.kind === 'stopped') return hashed;
  const { cluster, planned } = await observeAndSettle(run, settled, { ways, goal: { kind: 'converge' }, targets });
  const { additions, lockPlace } = cluster;
  const chosen = saved === undefined ? narrowed(run, targets) : given({ targets: saved.targets });
  const surroundings = { isSimulated: run.console.isSimulated, additions, ...chosen };
  if (saved !== undefined) requireSame(saved, planDocument(planned.plan, surroundings));
  const fewer = reviewed && requireReviewed(reviewed, planDocument(planned.plan, surroundings));
  showPlan(run, planned.plan, { lock: { shown: lockPlace.shown, additions }, ...shownBeside(planned) });
  if (fewer !== undefined && !run.options.json) run.console.out(`\n${fewer}`);
  return { cluster, targets, ways, consent, planned, ...given({ hashed }) };
}

const shownBeside = ({ budgets, transfers }: ObservedPlan) => ({ budgets, transfers });

/** The Macs' identities for the lock, except for wrong Macs and Macs that answer for two nodes. */
function seenIdentities(
  { plan, observation }: ObservedPlan,
  names: readonly string[],
): Readonly<Record<string, Digest>> {
  const doubted = new Set<string>(
    plan.blockers.flatMap(({ resource, node, peers }) => (resource === 'identity' ? [node, ...peers] : [])),
  );
  const entries = names.flatMap((name) => {
    const identity = read(observation.nodes[name]?.facts, identityFact);
    return identity?.kind === 'known' && !doubted.has(name) ? [[name, identityDigest(identity.value)] as const] : [];
  });
  return Object.fromEntries(entries);
}

function question(run: Run, { changes }: Plan, cluster: SettledCluster): string {
  const { length } = newLines(run, cluster);
  const change = `apply ${changes.length === 1 ? 'this' : 'these'} ${counted(changes.length, 'change')}`;
  const write = `write ${counted(length, 'line')} to ${cluster.lockPlace.shown}`;
  const asked = [...(changes.length === 0 ? [] : [change]), ...(length === 0 ? [] : [write])].join(' and ');
  return `${upperFirst(asked || 'continue')}?`;
}

/** The lock's new lines that need consent; a rehearsal needs no consent. */
const newLines = ({ console }: Run, { additions }: SettledCluster): readonly string[] =>
  console.isSimulated ? [] : additions;

const handsNodes = ({ blockers }: Plan): readonly NodeName[] =>
  blockers.filter(({ isHands }) => isHands).flatMap(({ node, peers }) => [node, ...peers]);

/**
 * True if a manual step remains or is in progress, because a Mac that is shut down for it cannot be observed.
 * @param visited nodes with a manual step in an earlier plan
 */
export function isWaiting(
  { last, report }: Pick<RunOutcome, 'report'> & { readonly last?: ObservedPlan },
  visited: ReadonlySet<NodeName>,
): boolean {
  if (report.isDeclined || last === undefined) return false;
  const { plan } = last;
  return handsNodes(plan).length > 0 || [...visited].some((name) => !Object.hasOwn(plan.observed, name));
}

/** A multiple of a gate's poll interval: ten seconds on real Macs. */
const pollsBetween = 10;

const actionsOf = ({ blockers }: Plan): string => blockers.map(({ action }) => plainText(action)).join('\n');

interface Waits {
  /** Nodes with a manual step in an earlier plan. */
  readonly visited: Set<NodeName>;
  reported: string;
}

/** With `--wait-for-hands`, waits briefly while a manual step remains, and plans again. */
async function planAfterHands(
  run: Run,
  { cluster, targets, ways }: ClusterTargets,
  outcome: RunOutcome,
  waits: Waits,
): Promise<ObservedPlan | undefined> {
  const { report, last } = outcome;
  const plans = report.works.flatMap(({ plan }) => plan ?? []);
  for (const name of plans.flatMap(handsNodes)) waits.visited.add(name);
  const mayWait = run.own['waitForHands'] === true && !run.signal.aborted;
  if (!mayWait || last === undefined || !isWaiting(outcome, waits.visited)) return undefined;
  for (const name of handsNodes(last.plan)) waits.visited.add(name);
  const left = actionsOf(last.plan);
  if (left !== waits.reported) run.console.err('waiting for the manual steps at the rack; Ctrl-C stops waiting\n');
  waits.reported = left;
  await pause(pollsBetween * timingFor(run).gatePollMs, run.signal);
  if (run.signal.aborted) return undefined;
  const planned = await observeAndPlan(run, { fleet: cluster.fleet, ways, goal: { kind: 'converge' }, targets });
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  const isNew = actionsOf(planned.plan) !== left;
  if (isNew || hasMachineSteps(planned.plan)) showPlan(run, planned.plan, { lock, ...shownBeside(planned) });
  return planned;
}

/**
 * The former networks, such as `10.77.0.4/30`, in which no node has an address any more, live or configured. Empty
 * unless all nodes were observed, because an unobserved node can still have such an address.
 */
export function vacantNetworks(
  lock: ClusterLock,
  fleet: DesiredFleet,
  observation: FleetObservation,
): readonly string[] {
  const facts = fleet.nodes.map(({ name }) => observation.nodes[name]?.facts);
  return Object.keys(lock.formerNetworks).filter((text) => {
    const network = parseIpv4Network(text);
    return network !== undefined && facts.every((one) => one !== undefined && isVacant(network, one));
  });
}

function isVacant(network: Ipv4Network, facts: Facts): boolean {
  const interfaces = read(facts, interfacesFact);
  const configured = read(facts, serviceAddressesFact);
  if (interfaces.kind === 'unknown' || configured.kind === 'unknown') return false;
  const live = interfaces.value.flatMap(({ ipv4 }) => ipv4);
  const held = [...live, ...configured.value.flatMap(({ address }) => address ?? [])];
  return held.every(({ address }) => !isInside({ address, prefixLength: 32 }, network));
}
