import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { pause } from '../../apply/run-timing.ts';
import { isInside, parseIpv4Network } from '../../desired/addresses.ts';
import { withIdentities, withNodes, withoutFormerNetworks } from '../../desired/settle/settle.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, Ipv4Network } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { identityDigest } from '../../model/facts/mac.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';
import { identityFact } from '../../rack/identity/fact.ts';
import { interfacesFact } from '../../rack/network/interfaces-fact.ts';
import { serviceAddressesFact } from '../../rack/network/service-addresses-fact.ts';
import { counted } from '../../report/page.ts';
import { hasMachineSteps } from '../../report/plan/plan-text.ts';
import { keepLock, targetedNodes } from '../cluster/open-cluster.ts';
import { refuseUnresolved, type SettledCluster, settleCluster } from '../cluster/settle-cluster.ts';
import { openWays, type Ways } from '../cluster/ways.ts';
import { type LookedPlan, lookAndPlan, lookAndSettle } from '../look/look-and-plan.ts';
import { type Consent, createConsent } from '../plan/consent.ts';
import { narrowed, planDocument, readApplyWords, requireSame, showPlan } from '../plan/plan-document.ts';
import { timingFor } from '../use-limits.ts';
import type { Run, VerbBody } from '../verb.ts';
import { shippedPlaybook } from './act-on.ts';
import { changeNodes, type EndedChange } from './change-nodes.ts';
import { nothingRun, outcomeOf, showOutcome } from './run-outcome.ts';

/** `apply [NODE…|PLANFILE]`: observes, shows the plan, asks, runs exactly this plan, and checks the result. */
export const apply: VerbBody = (run) => applyPlan(run, (fleet) => readApplyWords(run, fleet));

/** The same for what was chosen another way: nodes, or a plan that was made before. */
export async function applyPlan(
  run: Run,
  choose: (fleet: DesiredFleet) => ReturnType<typeof readApplyWords>,
): Promise<number> {
  const settled = await settleCluster(run);
  const { nodes, saved } = choose(settled.fleet);
  const targets = targetedNodes(run, settled.fleet, saved?.targets ?? nodes).map(({ name }) => name);
  // A user at a terminal sees the new lines of the lock with the plan.
  const canBeSeen = run.console.canAsk && !run.options.json;
  if (!canBeSeen && run.own['updateLock'] !== true) refuseUnresolved(run, settled);
  const isAgreed = run.options.yes === true || saved !== undefined;
  const consent = createConsent(run, { named: [], allowable: ['interrupt', 'rdma-start'], isAgreed });
  const ways = openWays(run, settled.opened);
  const { isSimulated } = ways;
  const { cluster, looked } = await lookAndSettle(run, settled, { ways, goal: { kind: 'converge' }, targets });
  const { fleet, additions, lockPlace } = cluster;
  const context: ApplyContext = { cluster, targets, ways, consent };
  const chosen = saved === undefined ? narrowed(run, targets) : narrowedBy(saved.targets);
  if (saved !== undefined) requireSame(saved, planDocument(looked.plan, { isSimulated, additions, ...chosen }));
  const { plan, budgets } = looked;
  showPlan(run, plan, { lock: { shown: lockPlace.shown, additions }, budgets });
  const first = await applyRound(run, context, looked);
  const last = run.own['waitForHands'] === true ? await waitForHands(run, context, first) : first;
  const lock = { path: lockPlace.path, written: last.isLockWritten, additions };
  const outcome = outcomeOf(last, { goal: 'converge', fleet, targets }, last.last);
  return showOutcome(run, outcome, { cluster: fleet.name, verb: 'apply', lock });
}

const narrowedBy = (targets: readonly string[] | undefined): { readonly targets?: readonly string[] } =>
  targets === undefined ? {} : { targets };

interface ApplyContext {
  readonly cluster: SettledCluster;
  readonly targets: readonly NodeName[];
  readonly ways: Ways;
  readonly consent: Consent;
}

/** One plan, from its observation to its final check. */
interface Round extends EndedChange {
  /** The final check; the first plan if nothing ran, absent if the nodes could not be checked again. */
  readonly last?: LookedPlan;
  readonly isLockWritten: boolean;
}

/** Asks, writes the lock, runs exactly the plan that was shown, observes and plans again. */
async function applyRound(run: Run, context: ApplyContext, looked: LookedPlan): Promise<Round> {
  const { cluster, targets, ways, consent } = context;
  const { plan } = looked;
  const isNews = !ways.isSimulated && cluster.additions.length > 0;
  const report = nothingRun(targets);
  const unchanged = { report, refusal: [], last: looked, isLockWritten: false };
  if (run.signal.aborted) return { ...unchanged, report: { ...report, isInterrupted: true } };
  const hasWork = hasMachineSteps(plan);
  if ((hasWork || isNews) && !(await consent.give(plan, question(plan, context)))) {
    return { ...unchanged, report: { ...report, isDeclined: true } };
  }
  const reached = Object.keys(plan.observed).filter((name) => targets.some((one) => one === name));
  const lock = withIdentities(withNodes(cluster.lock, reached), seenIdentities(looked, reached));
  const isLockWritten = await keepLock(cluster.lockPlace, lock, reached);
  if (!hasWork) return { ...unchanged, isLockWritten };
  const { fleet } = cluster;
  const ended = await changeNodes(run, {
    verb: 'apply',
    playbook: shippedPlaybook('apply'),
    scope: { desired: fleet, targets },
    ways,
    consent,
    // The first plan was already shown and confirmed. This is a later one, after another run or an unfinished change.
    show: (next) => showPlan(run, next, { lock: { shown: cluster.lockPlace.shown, additions: [] } }),
    question: (next) => question(next, context),
    first: looked,
  });
  const last = await lastLook(ended.report, context, lock);
  return { ...ended, isLockWritten, ...given({ last }) };
}

/** The Macs' identities for the lock, except of wrong Macs and of Macs that answer for two nodes. */
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

function question({ changes }: Plan, { cluster, ways }: ApplyContext): string {
  const { additions, lockPlace } = cluster;
  const isNews = !ways.isSimulated && additions.length > 0;
  const change =
    changes.length === 0
      ? []
      : [`apply ${changes.length === 1 ? 'this' : 'these'} ${counted(changes.length, 'change')}`];
  const write = isNews ? [`write ${counted(additions.length, 'line')} to ${lockPlace.shown}`] : [];
  const asked = [...change, ...write].join(' and ') || 'go on';
  return `${asked.charAt(0).toUpperCase()}${asked.slice(1)}?`;
}

/** The final check; networks that no node uses any more become free. */
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
 * Whether a manual step remains or is in progress: a Mac that is shut down for it cannot be observed.
 *
 * @param visited nodes with a manual step in an earlier plan
 */
export function isWaiting({ last, report }: Pick<Round, 'last' | 'report'>, visited: ReadonlySet<NodeName>): boolean {
  if (report.isDeclined || last === undefined) return false;
  const { plan } = last;
  return handsNodes(plan).length > 0 || [...visited].some((name) => !Object.hasOwn(plan.observed, name));
}

/** In poll intervals of a gate: ten seconds on real Macs. */
const looksBetween = 10;

const actionsOf = ({ blockers }: Plan): string => blockers.map(({ action }) => plainText(action)).join('\n');

/** Observes repeatedly until the manual steps are done, and makes the changes that each of them allows. */
async function waitForHands(run: Run, context: ApplyContext, first: Round): Promise<Round> {
  const { cluster, targets, ways } = context;
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  let round = first;
  let told = '';
  const visited = new Set(first.report.works.flatMap(({ plan }) => (plan === undefined ? [] : handsNodes(plan))));
  while (isWaiting(round, visited) && !run.signal.aborted) {
    for (const name of round.last === undefined ? [] : handsNodes(round.last.plan)) visited.add(name);
    const left = round.last === undefined ? '' : actionsOf(round.last.plan);
    if (left !== told) run.console.err('waiting for the manual steps at the rack; Ctrl-C stops waiting\n');
    told = left;
    await pause(looksBetween * timingFor(run).gatePollMs, run.signal);
    if (run.signal.aborted) break;
    const looked = await lookAndPlan(run, { fleet: cluster.fleet, ways, goal: { kind: 'converge' }, targets });
    const isNew = actionsOf(looked.plan) !== told;
    if (isNew || hasMachineSteps(looked.plan)) showPlan(run, looked.plan, { lock, budgets: looked.budgets });
    round = joinRounds(round, await applyRound(run, context, looked));
  }
  return round;
}

function joinRounds(before: Round, after: Round): Round {
  return {
    ...after,
    report: { ...after.report, works: [...before.report.works, ...after.report.works] },
    refusal: [...before.refusal, ...after.refusal],
    isLockWritten: before.isLockWritten || after.isLockWritten,
  };
}

/**
 * The former networks in which no node of the fleet has an address any more, live or configured, as `10.77.0.4/30`. None
 * unless all nodes were observed, because an unobserved node may still have such an address.
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
