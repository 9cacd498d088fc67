import { thisController } from '../../apply/lease/controller.ts';
import { isDeadHere, releaseLeaseOf } from '../../apply/lease/lease-keeper.ts';
import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { openSession } from '../../apply/reach/session.ts';
import { runPlaybook } from '../../apply/run-playbook.ts';
import { pause } from '../../apply/run-timing.ts';
import { isInside, parseIpv4Network } from '../../desired/addresses.ts';
import { withIdentities, withNodes, withoutFormerNetworks } from '../../desired/settle/settle.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
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
import { type LookedPlan, lookAndPlan, lookAndSettle } from '../look/look-and-plan.ts';
import { type Consent, createConsent } from '../plan/consent.ts';
import { isHashedPlan, narrowed, planDocument, readApplyWords, requireSame, showPlan } from '../plan/plan-document.ts';
import { timingFor, useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { shippedPlaybook } from './act-on.ts';
import { playbookOptions } from './change-nodes.ts';
import { type Hashed, hashFirst, isFullVerify } from './hash-first.ts';
import { makeLists } from './make-lists.ts';
import { nothingRun, outcomeOf, showOutcome } from './run-outcome.ts';
import { servingHere, servingLines, servingPlacements } from './serving-lines.ts';

/**
 * `apply [NODE…|PLANFILE]`: observes, shows the plan, asks, runs exactly this plan, and checks the result. With
 * `--wait-for-hands`, repeats this after each manual step.
 * @param choose selects the nodes, or an earlier plan
 */
export async function apply(run: Run, choose: Choose = readApplyWords): Promise<number> {
  const first = await showFirstPlan(run, choose);
  if ('code' in first) return first.code;
  const { looked, hashed, ...about } = first;
  const { cluster, targets, ways, consent } = about;
  const { fleet, additions, lockPlace } = cluster;
  const waits: Waits = { visited: new Set(), reported: '' };
  let round: Round = { report: nothingRun(targets), isLockWritten: false };
  let next: LookedPlan | undefined = looked;
  while (next !== undefined) {
    const { lock, ...asked } = await askFor(run, about, next);
    if (lock === undefined) {
      round = joinRounds(round, { ...asked, last: next });
    } else {
      const options = await playbookOptions(run, {
        verb: 'apply',
        scope: { desired: fleet, targets },
        ways,
        consent,
        // Called only if the approved plan went stale, or after a network rollback.
        show: (later) => showPlan(run, later, { lock: { shown: lockPlace.shown, additions: [] } }),
        question: (later) => question(run, later, cluster),
        first: next,
      });
      const report = await runPlaybook(shippedPlaybook('apply'), options);
      const last = await lastLook(report, about, lock);
      round = joinRounds(round, { ...asked, report, ...given({ last }) });
    }
    next = await planAfterHands(run, about, round, waits);
  }
  const { report, last, isLockWritten } = round;
  if (last !== undefined && !report.isDeclined && !run.signal.aborted) {
    const nodes = fleet.nodes.filter(({ name }) => targets.includes(name));
    await releaseDeadLeases(run, nodes, ways, last.observation);
  }
  const serving = last && (await servingHere(run, servingPlacements(viewOf({ ...last, desired: fleet, targets }))));
  return showOutcome(run, outcomeOf(report, { goal: 'converge', fleet, targets }, last), {
    cluster: fleet.name,
    verb: 'apply',
    lock: { path: lockPlace.path, written: isLockWritten, additions },
    ...given({ hashed: hashed?.hashed, found: hashed?.found }),
    ...(serving === undefined ? {} : { serving, closing: servingLines(serving, fleet) }),
  });
}

/**
 * Releases the observed leases whose runs were processes of this computer that have ended. Nothing else would: a run
 * takes over a dead lease only on a node that it changes.
 */
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

interface ApplyContext {
  readonly cluster: SettledCluster;
  readonly targets: readonly NodeName[];
  readonly ways: SshTargets;
  readonly consent: Consent;
}

interface FirstPlan extends ApplyContext {
  readonly looked: LookedPlan;
  /** Absent without `--verify=full`. */
  readonly hashed?: Extract<Hashed, { kind: 'compared' }>;
}

/** Resolves the cluster file, observes the targets, and shows the plan; with `--verify=full`, hashes models first. */
async function showFirstPlan(run: Run, choose: Choose): Promise<FirstPlan | Extract<Hashed, { kind: 'stopped' }>> {
  const isFull = isFullVerify(run);
  const first = await settleCluster(run);
  const { nodes, saved } = choose(run, first.fleet);
  const targets = targetedNodes(run, first.fleet, saved?.targets ?? nodes).map(({ name }) => name);
  // A user at a terminal sees the lock's new lines together with the plan.
  const canBeSeen = run.console.canAsk && !run.options.json;
  if (!canBeSeen && run.own['updateLock'] !== true) refuseUnresolved(run, first);
  const isAgreed = run.options.yes === true || saved !== undefined;
  const policy = { named: [], allowable: ['interrupt', 'rdma-start'], isAgreed } as const;
  const ways = openTargets(run, first.opened);
  // A saved plan is run as it was made.
  const work = { cluster: first, targets, ways, consent: createConsent(run, policy) };
  const made = saved === undefined ? await makeLists(run, work) : undefined;
  const consent = createConsent(run, { ...policy, ...given({ hasChanged: made?.hasChanged }) });
  const isSame = made === undefined || run.signal.aborted;
  const settled = isSame ? first : await settleCluster(run, first.opened, made.missing);
  const isHashing = isFull || (saved !== undefined && isHashedPlan(saved));
  const hashed = isHashing ? await hashFirst(run, { cluster: settled, targets, ways }) : undefined;
  if (hashed?.kind === 'stopped') return hashed;
  const { cluster, looked } = await lookAndSettle(run, settled, { ways, goal: { kind: 'converge' }, targets });
  const { additions, lockPlace } = cluster;
  const chosen = saved === undefined ? narrowed(run, targets) : given({ targets: saved.targets });
  const surroundings = { isSimulated: run.console.isSimulated, additions, ...chosen };
  if (saved !== undefined) requireSame(saved, planDocument(looked.plan, surroundings));
  showPlan(run, looked.plan, { lock: { shown: lockPlace.shown, additions }, ...shownBeside(looked) });
  return { cluster, targets, ways, consent, looked, ...given({ hashed }) };
}

/** The plans that were run so far. */
interface Round {
  readonly report: PlaybookReport;
  /** The final check. The plan itself if nothing ran; absent if the nodes could not be checked again. */
  readonly last?: LookedPlan;
  readonly isLockWritten: boolean;
}

const shownBeside = ({ budgets, transfers }: LookedPlan) => ({ budgets, transfers });

/** Asks for consent and writes the lock. The result contains the lock if the plan has steps to run. */
async function askFor(
  run: Run,
  about: ApplyContext,
  looked: LookedPlan,
): Promise<Omit<Round, 'last'> & { readonly lock?: ClusterLock }> {
  const { cluster, targets, consent } = about;
  const { plan } = looked;
  const report = nothingRun(targets);
  if (run.signal.aborted) return { report: { ...report, isInterrupted: true }, isLockWritten: false };
  const hasWork = hasMachineSteps(plan);
  if ((hasWork || newLines(run, cluster).length > 0) && !(await consent.give(plan, question(run, plan, cluster)))) {
    return { report: { ...report, isDeclined: true }, isLockWritten: false };
  }
  const reached = Object.keys(plan.observed).filter((name) => targets.some((one) => one === name));
  const lock = withIdentities(withNodes(cluster.lock, reached), seenIdentities(looked, reached));
  const isLockWritten = await keepLock(cluster.lockPlace, lock, reached);
  return { report, isLockWritten, ...(hasWork ? { lock } : {}) };
}

/** The Macs' identities for the lock, except for wrong Macs and Macs that answer for two nodes. */
function seenIdentities({ plan, observation }: LookedPlan, names: readonly string[]): Readonly<Record<string, Digest>> {
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

/** The final check. Networks that no node uses any more become available. */
async function lastLook(
  { observation }: PlaybookReport,
  { cluster, targets }: ApplyContext,
  lock: ClusterLock,
): Promise<LookedPlan | undefined> {
  if (observation === undefined) return undefined;
  const { fleet, lockPlace } = cluster;
  const plan = makePlan({ goal: { kind: 'converge' }, desired: fleet, observation, targets });
  const vacant = vacantNetworks(lock, fleet, observation);
  if (vacant.length > 0) await keepLock(lockPlace, withoutFormerNetworks(lock, vacant));
  return { plan, observation };
}

const handsNodes = ({ blockers }: Plan): readonly NodeName[] =>
  blockers.filter(({ isHands }) => isHands).flatMap(({ node, peers }) => [node, ...peers]);

/**
 * True if a manual step remains or is in progress, because a Mac that is shut down for it cannot be observed.
 * @param visited nodes with a manual step in an earlier plan
 */
export function isWaiting({ last, report }: Pick<Round, 'last' | 'report'>, visited: ReadonlySet<NodeName>): boolean {
  if (report.isDeclined || last === undefined) return false;
  const { plan } = last;
  return handsNodes(plan).length > 0 || [...visited].some((name) => !Object.hasOwn(plan.observed, name));
}

/** A multiple of a gate's poll interval: ten seconds on real Macs. */
const looksBetween = 10;

const actionsOf = ({ blockers }: Plan): string => blockers.map(({ action }) => plainText(action)).join('\n');

/** The manual steps that a run is waiting for. */
interface Waits {
  /** Nodes with a manual step in an earlier plan. */
  readonly visited: Set<NodeName>;
  /** The actions that were last reported. */
  reported: string;
}

/** With `--wait-for-hands`, waits briefly while a manual step remains, and plans again. */
async function planAfterHands(
  run: Run,
  { cluster, targets, ways }: ApplyContext,
  { report, last }: Round,
  waits: Waits,
): Promise<LookedPlan | undefined> {
  const plans = report.works.flatMap(({ plan }) => plan ?? []);
  for (const name of plans.flatMap(handsNodes)) waits.visited.add(name);
  const mayWait = run.own['waitForHands'] === true && !run.signal.aborted;
  if (!mayWait || last === undefined || !isWaiting({ last, report }, waits.visited)) return undefined;
  for (const name of handsNodes(last.plan)) waits.visited.add(name);
  const left = actionsOf(last.plan);
  if (left !== waits.reported) run.console.err('waiting for the manual steps at the rack; Ctrl-C stops waiting\n');
  waits.reported = left;
  await pause(looksBetween * timingFor(run).gatePollMs, run.signal);
  if (run.signal.aborted) return undefined;
  const looked = await lookAndPlan(run, { fleet: cluster.fleet, ways, goal: { kind: 'converge' }, targets });
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  const isNew = actionsOf(looked.plan) !== left;
  if (isNew || hasMachineSteps(looked.plan)) showPlan(run, looked.plan, { lock, ...shownBeside(looked) });
  return looked;
}

function joinRounds(before: Round, after: Round): Round {
  return {
    ...after,
    report: {
      ...after.report,
      works: [...before.report.works, ...after.report.works],
      refusal: [...before.report.refusal, ...after.report.refusal],
    },
    isLockWritten: before.isLockWritten || after.isLockWritten,
  };
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
  const kept = read(facts, serviceAddressesFact);
  if (interfaces.kind === 'unknown' || kept.kind === 'unknown') return false;
  const live = interfaces.value.flatMap(({ ipv4 }) => ipv4);
  const held = [...live, ...kept.value.flatMap(({ address }) => address ?? [])];
  return held.every(({ address }) => !isInside({ address, prefixLength: 32 }, network));
}
