import { pause } from '../../apply/pause.ts';
import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { withIdentities, withNodes, withoutFormerNetworks } from '../../desired/settle/lock-nodes.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { Digest } from '../../model/digest.ts';
import { identityDigest } from '../../model/facts/mac-identity.ts';
import type { NodeName } from '../../model/node.ts';
import { counted } from '../../report/counted.ts';
import { hasMachineSteps } from '../../report/plan/plan-text.ts';
import { keepLock } from '../cluster/lock-file.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import { vacantNetworks } from '../cluster/vacant-networks.ts';
import type { Ways } from '../cluster/ways.ts';
import { type LookedPlan, lookAndPlan } from '../look/look-and-plan.ts';
import type { Consent } from '../plan/consent.ts';
import { showPlan } from '../plan/show-plan.ts';
import { timingFor } from '../terminal/timing.ts';
import type { Run } from '../verb/verb.ts';
import { changeNodes } from './change-nodes.ts';
import type { RunOutcome } from './run-outcome.ts';
import { shippedPlaybook } from './shipped-playbooks.ts';

/** What all rounds of one `apply` share. */
export interface ApplyContext {
  readonly cluster: SettledCluster;
  readonly targets: readonly NodeName[];
  readonly ways: Ways;
  readonly consent: Consent;
}

/** One plan from its first look to its last. */
export interface Round {
  readonly report: PlaybookReport;
  readonly refusal: readonly Diagnostic[];
  /** As the last look has it; the first one where nothing was run, absent where nobody could look again. */
  readonly last?: LookedPlan;
  readonly isLockWritten: boolean;
}

const nothingRun = (targets: readonly NodeName[]): PlaybookReport => ({
  works: [],
  nodes: targets,
  isStopped: false,
  isDeclined: false,
  isInterrupted: false,
});

/** Asks, writes the lock, runs exactly the plan that was shown, and plans again from what is seen then. */
export async function applyRound(run: Run, context: ApplyContext, looked: LookedPlan): Promise<Round> {
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
    // The first plan was shown and agreed to: this is one that others have overtaken, or that a settled change left.
    show: (next) => {
      const about = { lock: { shown: cluster.lockPlace.shown, additions: [] }, budgets: undefined, next: [] };
      showPlan(run, next, { isSimulated: ways.isSimulated, ...about });
    },
    apart: () => {
      if (!run.options.json) run.console.out('\n');
    },
    question: (next) => question(next, context),
    first: looked,
  });
  const last = await lastLook(ended.report, context, lock);
  return { ...ended, isLockWritten, ...(last === undefined ? {} : { last }) };
}

/** Which Macs these nodes are, for the lock; nothing of one that is not the Mac of its file, or of two nodes. */
function seenIdentities({ plan, observation }: LookedPlan, names: readonly string[]): Readonly<Record<string, Digest>> {
  const doubted = new Set<string>(
    plan.blockers.flatMap(({ resource, node, peers }) => (resource === 'identity' ? [node, ...peers] : [])),
  );
  const entries = names.flatMap((name) => {
    const identity = observation.nodes[name]?.facts.identity;
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

/** The second plan; networks that nobody has an address of any more are free again. */
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

/** The nodes at which hands are needed by a plan. */
const handsNodes = ({ blockers }: Plan): readonly NodeName[] =>
  blockers.filter(({ isHands }) => isHands).flatMap(({ node, peers }) => [node, ...peers]);

/**
 * Whether a manual step is still to be done, or somebody is at it: a Mac that is switched off for it is not observed.
 *
 * @param visited nodes that an earlier plan had a manual step for
 */
export function isWaiting({ last, report }: Pick<Round, 'last' | 'report'>, visited: ReadonlySet<NodeName>): boolean {
  if (report.isDeclined || last === undefined) return false;
  const { plan } = last;
  return handsNodes(plan).length > 0 || [...visited].some((name) => !Object.hasOwn(plan.observed, name));
}

/** In looks of a gate: ten seconds at real Macs. */
const looksBetween = 10;

const actionsOf = ({ blockers }: Plan): string => blockers.map(({ action }) => plainText(action)).join('\n');

/**
 * Looks again and again until the hands have done their part, and goes on with what that allows; says what is left
 * whenever that has changed.
 */
export async function waitForHands(run: Run, context: ApplyContext, first: Round): Promise<Round> {
  const { cluster, targets, ways } = context;
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  let round = first;
  let told = '';
  const visited = new Set(first.report.works.flatMap(({ plan }) => (plan === undefined ? [] : handsNodes(plan))));
  while (isWaiting(round, visited) && !run.signal.aborted) {
    for (const name of round.last === undefined ? [] : handsNodes(round.last.plan)) visited.add(name);
    const left = round.last === undefined ? '' : actionsOf(round.last.plan);
    if (left !== told) run.console.err('waiting for the hands at the rack; Ctrl-C ends it\n');
    told = left;
    await pause(looksBetween * timingFor(run).gatePollMs, run.signal);
    if (run.signal.aborted) break;
    const looked = await lookAndPlan(run, { fleet: cluster.fleet, ways, goal: { kind: 'converge' }, targets });
    const isNew = actionsOf(looked.plan) !== told;
    if (isNew || hasMachineSteps(looked.plan))
      showPlan(run, looked.plan, { isSimulated: ways.isSimulated, lock, budgets: looked.budgets, next: [] });
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

/** What came of all rounds together. */
export const outcomeOf = ({ report, refusal, last }: Round, { cluster, targets }: ApplyContext): RunOutcome => ({
  targets,
  report,
  refusal,
  ...(last === undefined ? {} : { last: { goal: 'converge' as const, ...last, fleet: cluster.fleet, targets } }),
});
