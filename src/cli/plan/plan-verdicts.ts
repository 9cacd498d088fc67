import type { Goal } from '../../engine/goals/goal.ts';
import type { Plan, Waiting } from '../../engine/plan/plan.ts';
import type { AddressParts } from '../../model/address.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { awayNodes } from '../../rack/placement/state/layouts.ts';
import { verdictOf } from '../look/facts.ts';
import { codeForNodes, type ExitCode, exitCode, type NodeVerdict } from '../verb/exit-codes.ts';

/** A plan with what it is about. */
export interface JudgedPlan {
  readonly goal: Goal['kind'];
  readonly plan: Plan;
  readonly observation: FleetObservation;
  readonly fleet: DesiredFleet;
  readonly targets: readonly NodeName[];
}

/** How each target stands by a plan that was made from the last look at it. Unknown is neither right nor wrong. */
export function planVerdicts(judged: JudgedPlan): readonly NodeVerdict[] {
  return judged.targets.map((name) => verdictFor(name, judged));
}

function verdictFor(name: NodeName, { goal, plan, observation, fleet, targets }: JudgedPlan): NodeVerdict {
  if (!Object.hasOwn(plan.observed, name)) {
    const failures = observation.failures[name] ?? [];
    return failures.length === 0 ? 'unjudged' : verdictOf(failures);
  }
  const isAbout = ({ node, about }: Pick<Waiting, 'node' | 'about'>): boolean =>
    node === name || membersOf(about, fleet).includes(name);
  const waiting = plan.waiting.filter(isAbout);
  const isOneUnseen = isOtherUnseen(name, { goal, plan, observation, targets });
  const isOwn = ({ isUnknown, about }: Waiting): boolean => isUnknown && !(isOneUnseen && isShared(about));
  if (waiting.some(isOwn)) return 'unjudged';
  if (plan.changes.some(isAbout)) return 'wrong';
  const isBlocked = plan.blockers.some(({ node, peers }) => node === name || peers.includes(name));
  return isBlocked || waiting.some(({ isUnknown }) => !isUnknown) ? 'hands' : 'fine';
}

/**
 * A cable has two ends and a placement several members. What nobody knows of them while a target is not seen counts
 * for that target, which is unjudged itself: the others are as far as the file can be brought on them, and of a placement
 * that is to be stopped each is stopped by itself. Whoever starts a placement wants all of it.
 */
const isShared = ({ kind }: AddressParts): boolean =>
  kind === 'thunderbolt-link' || kind === 'link-address' || kind === 'placement';

/** Whether nobody could judge another target; of what is to be stopped, one that did not say what runs there counts too. */
function isOtherUnseen(
  name: NodeName,
  { goal, plan, observation, targets }: Pick<JudgedPlan, 'goal' | 'plan' | 'observation' | 'targets'>,
): boolean {
  if (goal !== 'converge' && goal !== 'stop') return false;
  const unseen = targets.filter((target) => !Object.hasOwn(plan.observed, target));
  const mute = goal === 'stop' ? awayNodes(targets, observation) : [];
  return !mute.includes(name) && [...unseen, ...mute].length > 0;
}

/** A placement that does not serve is wrong on every member, wherever its property is kept; a rank by itself is only there. */
function membersOf({ kind, placement, part }: AddressParts, { placements }: DesiredFleet): readonly NodeName[] {
  return kind === 'placement' && part !== 'rank'
    ? (placements.find(({ name }) => name === placement)?.nodes ?? [])
    : [];
}

/** The code of a run that ended with this plan: 0 only when every target was seen as it should be. */
export const codeForPlan = (judged: JudgedPlan): ExitCode => codeForNodes(planVerdicts(judged));

/**
 * The code of a look that says what is pending: 2 while there is something that a run can change, in the lock too, 3
 * when only the work list is left; what could not be judged comes first.
 */
export function codeForPending(judged: JudgedPlan, additions: readonly string[]): ExitCode {
  const verdicts = planVerdicts(judged);
  if (verdicts.includes('unjudged')) return codeForUnjudged(verdicts);
  if (verdicts.includes('wrong') || additions.length > 0) return exitCode.changesPending;
  return verdicts.includes('hands') ? exitCode.handsNeeded : exitCode.done;
}

/** The code of a look that only asks whether everything could be judged. */
export const codeForLook = (judged: JudgedPlan): ExitCode => codeForUnjudged(planVerdicts(judged));

function codeForUnjudged(verdicts: readonly NodeVerdict[]): ExitCode {
  if (!verdicts.includes('unjudged')) return exitCode.done;
  return verdicts.every((verdict) => verdict === 'unjudged') ? exitCode.failed : exitCode.partial;
}
