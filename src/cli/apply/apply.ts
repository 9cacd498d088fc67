import { targetedNodes } from '../cluster/open-cluster.ts';
import { refuseUnresolved } from '../cluster/refuse-unresolved.ts';
import { settleCluster } from '../cluster/settle-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { lookAndSettle } from '../look/settle-around.ts';
import { createConsent } from '../plan/consent.ts';
import { narrowed } from '../plan/plan.ts';
import { planDocument } from '../plan/plan-document.ts';
import { readApplyWords, requireSame } from '../plan/saved-plan.ts';
import { showPlan } from '../plan/show-plan.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import type { VerbBody } from '../verb/verb.ts';
import { type ApplyContext, applyRound, outcomeOf, waitForHands } from './apply-round.ts';
import { showOutcome } from './show-outcome.ts';

/** `apply [NODE…|PLANFILE]`: looks, plans, shows, asks, runs exactly that, and looks again; the last look decides. */
export const apply: VerbBody = async (run) => {
  const settled = await settleCluster(run);
  const { nodes, saved } = readApplyWords(run, settled.fleet);
  const targets = targetedNodes(run, settled.fleet, saved?.targets ?? nodes).map(({ name }) => name);
  // Somebody who can be asked sees the lines with the plan.
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
  showPlan(run, plan, { isSimulated, lock: { shown: lockPlace.shown, additions }, budgets, next: [] });
  const first = await applyRound(run, context, looked);
  const last = run.own['waitForHands'] === true ? await waitForHands(run, context, first) : first;
  const interruptedBy = exitOfSignal(run.signal);
  const outcome = { ...outcomeOf(last, context), ...(interruptedBy === undefined ? {} : { interruptedBy }) };
  const lock = { path: lockPlace.path, written: last.isLockWritten, additions };
  return showOutcome(run, outcome, { cluster: fleet.name, verb: 'apply', isSimulated, lock });
};

const narrowedBy = (targets: readonly string[] | undefined): { readonly targets?: readonly string[] } =>
  targets === undefined ? {} : { targets };
