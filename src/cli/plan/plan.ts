import { resolve } from 'node:path';
import { realTiming } from '../../apply/run-timing.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { aroundScripts, type StepScript, stepScripts } from '../../engine/scripts/step-scripts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { pendingJson } from '../../report/plan/pending.ts';
import { driftText, planText } from '../../report/plan/plan-text.ts';
import { codeForLook, codeForPending } from '../apply/run-outcome.ts';
import { targetedNodes } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleCluster } from '../cluster/settle-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { shownPath } from '../files/read-file.ts';
import { replaceFile } from '../files/write-file.ts';
import { type LookedPlan, lookAndSettle } from '../look/look-and-plan.ts';
import { shownOnly } from '../look/observe-fleet.ts';
import { diagnosticsJson, pageFor, showJson, showJsonText } from '../terminal/console.ts';
import { mendingText, type Run, sameWords, textOption, type VerbBody } from '../verb.ts';
import { narrowed, planDocument, type ShownPlanParts, showPlan } from './plan-document.ts';

/** Looks at the nodes that the words name, and plans for them. */
export async function lookForPlan(run: Run) {
  const settled = await settleCluster(run);
  const targets = targetedNodes(run, settled.fleet, run.words).map(({ name }) => name);
  const ways = openWays(run, settled.opened);
  const wish = { ways, goal: { kind: 'converge' as const }, targets, extent: shownOnly(run) };
  const { cluster, looked } = await lookAndSettle(run, settled, wish);
  return { ...cluster, looked, targets, judged: { goal: wish.goal.kind, ...looked, fleet: cluster.fleet, targets } };
}

/** `drift [NODE…]`: whether nodes are as the file says; for a job that runs every night. */
export const drift: VerbBody = async (run) => {
  const found = await lookForPlan(run);
  show(run, found, found.looked);
  return codeForPending(found.judged, found.additions);
};

function show(run: Run, { additions, lockPlace }: SettledCluster, { plan }: LookedPlan): void {
  run.log?.write({ kind: 'plan', plan });
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      cluster: plan.cluster,
      ...(run.console.isSimulated ? { simulated: true } : {}),
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
  const { looked, targets, judged, fleet, additions, lockPlace } = await lookForPlan(run);
  const { isSimulated } = run.console;
  const { budgets } = looked;
  const surroundings = { isSimulated, additions, ...narrowed(run, targets), ...given({ budgets }) };
  const out = textOption(run, 'out');
  const saved = out === undefined ? undefined : resolve(run.folder, out);
  if (saved !== undefined) replaceFile(saved, planDocument(looked.plan, surroundings), 0o600);
  const scripts = run.own['scripts'] === true ? scriptsOf(looked.plan, fleet) : undefined;
  if (run.options.json) {
    showJsonText(run.console, planDocument(looked.plan, { ...surroundings, ...(scripts && { scripts }) }));
  }
  const lock = { shown: lockPlace.shown, additions };
  const parts = { lock, budgets, next: nextLines(run, looked.plan, saved) };
  if (scripts !== undefined) showScripts(run, looked.plan, parts, scripts);
  else {
    showPlan(run, looked.plan, parts);
    const isForHands = looked.plan.blockers.some(({ isHands }) => isHands);
    if (!run.options.json && isSimulated && isForHands) run.console.out(proseText(mendingText, run.console));
  }
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

/** Shows the scripts of root of a plan, behind the plan itself as comments: that says what was not seen, and what waits. */
function showScripts(run: Run, plan: Plan, parts: ShownPlanParts, scripts: readonly StepScript[]): void {
  run.log?.write({ kind: 'plan', plan });
  if (run.options.json) return;
  const { columns, hasUnicode: unicode, isSimulated } = run.console;
  const text = planText({ plan, ...parts, columns: columns - commentMark.length, unicode, isSimulated });
  run.console.out(scriptsText(text, scripts));
}

const line = '# ----------------------------------------------------------------------';

/** What a line of the plan begins with, so that a shell reads over it. */
const commentMark = '# ';

/** Every script of root of a plan, whole and in its order, behind the plan's own text, for people who read what they allow. */
function scriptsText(plan: string, scripts: readonly StepScript[]): string {
  const comments = plan
    .trimEnd()
    .split('\n')
    .map((text) => `${commentMark}${text}`.trimEnd());
  if (scripts.length === 0) return `${[...comments, '#', '# It sends no script to root.'].join('\n')}\n`;
  const titles = scripts.map(({ step }) => `#   ${step}`);
  const head = [
    ...comments,
    '#',
    `# ${scripts.length === 1 ? '1 script' : `${scripts.length} scripts`} for root, each sent alone, by standard input, to: sudo -n /bin/sh -s`,
    ...titles,
    '#',
    '# In the place of RUN, token 0, CONFIG, USER and HOST stands what the run itself is and has.',
  ];
  const parts = [
    head.join('\n'),
    [line, '# Around every one of them:', line, aroundScripts()].join('\n'),
    ...scripts.map(({ step, text }) => [line, `# ${step}`, line, text].join('\n')),
  ];
  return escapeLines(`${parts.join('\n\n')}\n`);
}
