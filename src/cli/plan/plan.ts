import { resolve } from 'node:path';
import { realTiming } from '../../apply/run-timing.ts';
import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeLines } from '../../diagnostics/escape.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import { hashWorks } from '../../engine/plan/hash-works.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { aroundScripts, type StepScript, stepScripts } from '../../engine/scripts/step-scripts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { pendingJson } from '../../report/plan/pending.ts';
import { planMarkdown } from '../../report/plan/plan-markdown.ts';
import { driftText, planText } from '../../report/plan/plan-text.ts';
import { isFullVerify, planToHash } from '../apply/hash-first.ts';
import { codeForChecked, codeForPending } from '../apply/run-outcome.ts';
import { targetedNodes } from '../cluster/open-cluster.ts';
import { settleCluster } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { shownPath } from '../files/read-file.ts';
import { replaceFile } from '../files/write-file.ts';
import { observeAndSettle } from '../look/observe-and-plan.ts';
import { shownOnly } from '../look/observe-fleet.ts';
import { movedRevisions } from '../sources/hub-source.ts';
import { diagnosticsJson, pageFor, paragraphText, showDiagnostics, showJsonText } from '../terminal/console.ts';
import { mendingText, type Run, sameWords, textOption, usageError, type VerbBody } from '../verb.ts';
import { driftDigest, narrowed, planDigest, planDocument, type ShownPlanParts, showPlan } from './plan-document.ts';

export async function observeForPlan(run: Run) {
  const settled = await settleCluster(run);
  const targets = targetedNodes(run, settled.fleet, run.words).map(({ name }) => name);
  const ways = openTargets(run, settled.opened);
  const input = { ways, goal: { kind: 'converge' as const }, targets, extent: shownOnly(run) };
  const { cluster, planned } = await observeAndSettle(run, settled, input);
  return { ...cluster, planned, targets, judged: { goal: input.goal.kind, ...planned, fleet: cluster.fleet, targets } };
}

/** True with `--format markdown`. @throws FleetError `cli/usage` */
function isMarkdown(run: Run): boolean {
  const format = textOption(run, 'format');
  if (format === undefined || format === 'text') return false;
  if (format !== 'markdown') {
    throw usageError(
      `${JSON.stringify(format)} is not a valid format.`,
      'Formats: text, markdown. For a program, use --json.',
    );
  }
  const other = run.options.json ? '--json' : run.own['scripts'] === true ? '--scripts' : undefined;
  if (other === undefined) return true;
  throw usageError(`--format markdown cannot be combined with ${other}.`, `Leave out ${other}.`);
}

export const drift: VerbBody = async (run) => {
  const asMarkdown = isMarkdown(run);
  const { judged, additions, lockPlace, planned } = await observeForPlan(run);
  const { plan: pending } = planned;
  const next = prose`Show the plan: ${meshwright('plan', ...sameWords(run, run.words))}`;
  const lock = { shown: lockPlace.shown, additions };
  const digest = driftDigest(pending, additions);
  const { isSimulated } = run.console;
  return {
    exit: codeForPending(judged, additions),
    document: {
      ...documentHead(run.console, { cluster: pending.cluster }),
      observed: Object.keys(pending.observed),
      ...unreachedField(pending.unreached),
      ...pendingJson(pending, run.console),
      lockAdditions: additions,
      diagnostics: diagnosticsJson(run.console, pending.diagnostics),
    },
    text: asMarkdown
      ? planMarkdown({ kind: 'drift', plan: pending, lock, digest, isSimulated })
      : driftText({ plan: pending, lock, next }, pageFor(run.console)),
    events: [{ kind: 'plan', plan: pending }],
  };
};

export const plan: VerbBody = async (run) => {
  const isFull = isFullVerify(run);
  const asMarkdown = isMarkdown(run);
  const { planned, targets, judged, fleet, additions, lockPlace, opened } = await observeForPlan(run);
  const moved = await movedRevisions(run, opened, fleet.models);
  const { isSimulated } = run.console;
  const { budgets, transfers } = planned;
  const chosen = narrowed(run, targets);
  const first = isFull ? planToHash(fleet, planned.observation, targets) : undefined;
  const hashes = first && hashWorks(first);
  const surroundings = { isSimulated, additions, ...chosen, ...given({ budgets, transfers, hashes }) };
  const out = textOption(run, 'out');
  const saved = out === undefined ? undefined : resolve(run.folder, out);
  const document = planDocument(planned.plan, surroundings);
  if (saved !== undefined) replaceFile(saved, document, 0o600);
  const steps = [...(first?.steps ?? []), ...planned.plan.steps];
  const scripts = run.own['scripts'] === true ? scriptsOf({ steps }, fleet) : undefined;
  // A saved plan has no notices of a server, because they would make it stale.
  const withMoved = { ...planned.plan, diagnostics: [...planned.plan.diagnostics, ...moved] };
  if (run.options.json) {
    showJsonText(run.console, planDocument(withMoved, { ...surroundings, ...(scripts && { scripts }) }));
  }
  const lock = { shown: lockPlace.shown, additions, ...(chosen.targets && { isCounted: true as const }) };
  const parts = {
    lock,
    budgets,
    transfers,
    hashes,
    next: nextLines(run, planned.plan, saved),
    saved: saved === undefined ? undefined : savedText(run, saved),
  };
  if (asMarkdown) {
    const digest = planDigest(document);
    run.log?.write({ kind: 'plan', plan: planned.plan });
    run.console.out(planMarkdown({ kind: 'plan', ...parts, plan: withMoved, digest, isSimulated }));
  } else if (scripts !== undefined) showScripts(run, planned.plan, parts, scripts);
  else {
    showPlan(run, planned.plan, parts);
    if (!run.options.json) showDiagnostics(run.console, moved);
    const isForHands = planned.plan.blockers.some(({ isHands }) => isHands);
    if (!run.options.json && isSimulated && isForHands) run.console.out(`\n${paragraphText(run.console, mendingText)}`);
  }
  return run.own['detailedExitcode'] === true ? codeForPending(judged, additions) : codeForChecked(judged);
};

/** A plan's root scripts, with the time limits for real Macs. */
const scriptsOf = ({ steps }: Pick<Plan, 'steps'>, fleet: DesiredFleet): readonly StepScript[] =>
  steps.flatMap((step) =>
    stepScripts(step, {
      userOf: (node) => fleet.nodes.find(({ name }) => name === node)?.user ?? 'USER',
      rollbackSeconds: realTiming.rollbackAfterMs / 1_000,
      rebootDelaySeconds: realTiming.rebootDelaySeconds,
    }),
  );

/** Two texts next to each other; on a narrow page, one below the other. */
function besideOrBelow({ console }: Run, first: Prose, second: Prose): readonly Prose[] {
  const both = prose`${first}   ${second}`;
  return columnsOf(proseText(both, console)) <= console.columns ? [both] : [first, second];
}

const savedText = ({ folder }: Run, saved: string): string => `Saved in ${shownPath(folder, saved)}.`;

/** Saved plans are usually applied without a prompt, so the command names the effects that need consent. */
export function nextLines(run: Run, { effects }: Pick<Plan, 'effects'>, saved: string | undefined): readonly Prose[] {
  if (saved !== undefined) {
    const shown = shownPath(run.folder, saved);
    const { file } = run.options;
    const options = file === undefined ? {} : { file };
    const allow = effects.some(({ kind }) => kind === 'interrupt') ? ['--allow', 'interrupt'] : [];
    const command = meshwright('apply', shown, ...sameWords({ options }, []), ...allow);
    return besideOrBelow(run, savedText(run, saved), prose`Apply exactly this plan: ${command}`);
  }
  const full = isFullVerify(run) ? ['--verify=full'] : [];
  const command = meshwright('apply', ...sameWords(run, run.words), ...full);
  return besideOrBelow(run, 'Save this plan: --out plan.json', prose`Apply it: ${command}`);
}

/** Prints a plan's root scripts, after the plan in comments, which lists unobserved nodes and waiting changes. */
function showScripts(run: Run, plan: Plan, parts: ShownPlanParts, scripts: readonly StepScript[]): void {
  run.log?.write({ kind: 'plan', plan });
  if (run.options.json) return;
  const columns = run.console.columns - commentMark.length;
  const page = pageFor({ ...run.console, columns, hasColor: false });
  run.console.out(scriptsText(planText({ plan, ...parts }, page), scripts));
}

const line = '# ----------------------------------------------------------------------';

/** Precedes each plan line, so that a shell ignores the line. */
const commentMark = '# ';

/** A plan's complete root scripts in order, after the plan's own text, for people to review. */
function scriptsText(plan: string, scripts: readonly StepScript[]): string {
  const comments = plan
    .trimEnd()
    .split('\n')
    .map((text) => `${commentMark}${text}`.trimEnd());
  if (scripts.length === 0) return `${[...comments, '#', '# This plan has no root scripts.'].join('\n')}\n`;
  const titles = scripts.map(({ step }) => `#   ${step}`);
  const head = [
    ...comments,
    '#',
    `# ${scripts.length === 1 ? '1 script' : `${scripts.length} scripts`} for root, each sent separately to the standard input of: sudo -n /bin/sh -s`,
    ...titles,
    '#',
    '# Each run replaces RUN, token 0, CONFIG, USER and HOST with its own values.',
  ];
  const parts = [
    head.join('\n'),
    [line, '# Wrapper of each script:', line, aroundScripts()].join('\n'),
    ...scripts.map(({ step, text }) => [line, `# ${step}`, line, text].join('\n')),
  ];
  return escapeLines(`${parts.join('\n\n')}\n`);
}
