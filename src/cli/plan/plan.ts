import { resolve } from 'node:path';
import { realTiming } from '../../apply/run-timing.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { type StepScript, stepScripts } from '../../engine/scripts/step-scripts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { pendingJson } from '../../report/plan/pending.ts';
import { driftText } from '../../report/plan/plan-text.ts';
import { codeForLook, codeForPending } from '../apply/run-outcome.ts';
import { targetedNodes } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleCluster } from '../cluster/settle-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { shownPath } from '../files/read-file.ts';
import { replaceFile } from '../files/write-file.ts';
import { type LookedPlan, lookAndSettle } from '../look/look-and-plan.ts';
import { shownOnly } from '../look/observe-fleet.ts';
import { diagnosticsJson, pageFor, showJson, showJsonText } from '../terminal/console.ts';
import { mendingText, type Run, sameWords, type VerbBody } from '../verb.ts';
import { planDocument } from './plan-document.ts';
import { showPlan, showScripts } from './show-plan.ts';

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

/** `plan [NODE…]`: what apply would do and what keeps it from doing more; changes nothing, here or on any node. */
export const plan: VerbBody = async (run) => {
  const settled = await settleCluster(run);
  const targets = targetedNodes(run, settled.fleet, run.words).map(({ name }) => name);
  const ways = openWays(run, settled.opened);
  const { isSimulated } = ways;
  const { cluster, looked } = await lookAndSettle(run, settled, {
    ways,
    goal: { kind: 'converge' },
    targets,
    extent: shownOnly(run),
  });
  const { fleet, additions, lockPlace } = cluster;
  const surroundings = {
    isSimulated,
    additions,
    ...narrowed(run, targets),
    ...given({ budgets: looked.budgets }),
  };
  const saved = savedAt(run);
  if (saved !== undefined) replaceFile(saved, planDocument(looked.plan, surroundings), 0o600);
  const scripts = run.own['scripts'] === true ? scriptsOf(looked.plan, fleet) : undefined;
  if (run.options.json) {
    showJsonText(run.console, planDocument(looked.plan, { ...surroundings, ...(scripts && { scripts }) }));
  }
  const lock = { shown: lockPlace.shown, additions };
  const parts = { isSimulated, lock, budgets: looked.budgets, next: nextLines(run, looked.plan, saved) };
  if (scripts !== undefined) showScripts(run, looked.plan, parts, scripts);
  else {
    showPlan(run, looked.plan, parts);
    const isForHands = looked.plan.blockers.some(({ isHands }) => isHands);
    if (!run.options.json && isSimulated && isForHands) run.console.out(proseText(mendingText, run.console));
  }
  const judged = { goal: 'converge' as const, ...looked, fleet, targets };
  return run.own['detailedExitcode'] === true ? codeForPending(judged, additions) : codeForLook(judged);
};

/** The scripts of root of a plan, with the times of real Macs. */
const scriptsOf = ({ steps }: Plan, fleet: DesiredFleet): readonly StepScript[] =>
  steps.flatMap((step) =>
    stepScripts(step, {
      userOf: (node) => fleet.nodes.find(({ name }) => name === node)?.user ?? 'USER',
      rollbackSeconds: realTiming.rollbackAfterMs / 1_000,
      rebootDelaySeconds: realTiming.rebootDelaySeconds,
    }),
  );

/** Whether some nodes were chosen, and which. */
export function narrowed(
  { words, options }: Pick<Run, 'words' | 'options'>,
  targets: readonly string[],
): { readonly targets?: readonly string[] } {
  return words.length > 0 || options.nodes !== undefined || options.label !== undefined ? { targets } : {};
}

function savedAt(run: Run): string | undefined {
  const { out } = run.own;
  return typeof out === 'string' ? resolve(run.folder, out) : undefined;
}

/** A saved plan is mostly applied where nobody can be asked, so that its command names the effects that need consent. */
export function nextLines(run: Run, { effects }: Pick<Plan, 'effects'>, saved: string | undefined): readonly Prose[] {
  if (saved !== undefined) {
    const shown = shownPath(run.folder, saved);
    const { file } = run.options;
    const options = file === undefined ? {} : { file };
    const allow = effects.some(({ kind }) => kind === 'interrupt') ? ['--allow', 'interrupt'] : [];
    return [
      prose`Saved in ${shown}.   Do exactly this: ${meshwright('apply', shown, ...sameWords({ options }, []), ...allow)}`,
    ];
  }
  return [prose`Save it: --out plan.json   Do it: ${meshwright('apply', ...sameWords(run, run.words))}`];
}
