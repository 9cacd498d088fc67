import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { pendingJson } from '../../report/plan/pending.ts';
import { driftText } from '../../report/plan/plan-text.ts';
import { codeForPending } from '../apply/run-outcome.ts';
import { targetedNodes } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleCluster } from '../cluster/settle-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { type LookedPlan, lookAndSettle } from '../look/look-and-plan.ts';
import { shownOnly } from '../look/observe-fleet.ts';
import { diagnosticsJson, pageFor, showJson } from '../terminal/console.ts';
import { type Run, sameWords, type VerbBody } from '../verb.ts';

/** `drift [NODE…]`: whether nodes are as the file says; for a job that runs every night. */
export const drift: VerbBody = async (run) => {
  const settled = await settleCluster(run);
  const targets = targetedNodes(run, settled.fleet, run.words).map(({ name }) => name);
  const ways = openWays(run, settled.opened);
  const { cluster, looked } = await lookAndSettle(run, settled, {
    ways,
    goal: { kind: 'converge' },
    targets,
    extent: shownOnly(run),
  });
  const { fleet } = cluster;
  show(run, cluster, looked, ways.isSimulated);
  return codeForPending({ goal: 'converge', ...looked, fleet, targets }, cluster.additions);
};

function show(run: Run, { additions, lockPlace }: SettledCluster, { plan }: LookedPlan, isSimulated: boolean): void {
  run.log?.write({ kind: 'plan', plan });
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      cluster: plan.cluster,
      ...(isSimulated ? { simulated: true } : {}),
      observed: Object.keys(plan.observed),
      ...unreachedField(plan.unreached),
      ...pendingJson(plan, run.console),
      lockAdditions: additions,
      diagnostics: diagnosticsJson(run.console, plan.diagnostics),
    });
    return;
  }
  const lock = { shown: lockPlace.shown, additions };
  const next = prose`See it: ${meshwright('plan', ...sameWords(run, run.words))}`;
  run.console.out(driftText({ plan, lock, next, ...pageFor(run.console) }));
}
