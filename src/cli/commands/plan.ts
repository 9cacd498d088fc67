import { resolve } from 'node:path';
import { planText } from '../../report/plan-text.ts';
import { showJsonText } from '../diagnostics-output.ts';
import { lookAndPlan } from '../look-and-plan.ts';
import { targetedNodes } from '../open-cluster.ts';
import { paintFor } from '../paint.ts';
import { planDocument } from '../plan-document.ts';
import { codeForLook, codeForPending } from '../plan-verdicts.ts';
import { shownPath } from '../read-file.ts';
import { mendingText, sameOptions } from '../same-options.ts';
import { settleCluster } from '../settle-cluster.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays } from '../ways.ts';
import { replaceFile } from '../write-file.ts';

/** `plan [NODE…]`: what apply would do and what keeps it from doing more; changes nothing, here or on any node. */
export const plan: VerbBody = async (run) => {
  const cluster = await settleCluster(run);
  const { fleet, additions, lockPlace } = cluster;
  const targets = targetedNodes(run, fleet, run.words).map(({ name }) => name);
  const ways = openWays(run, cluster.opened);
  const { isSimulated } = ways;
  const looked = await lookAndPlan(run, { fleet, ways, goal: { kind: 'converge' }, targets });
  const document = planDocument(looked.plan, { isSimulated, additions });
  const saved = savedAt(run);
  if (saved !== undefined) replaceFile(saved, document, 0o600);
  if (run.options.json) showJsonText(run.console, document);
  else {
    const { columns, hasUnicode: unicode, hasColor } = run.console;
    const lock = { shown: lockPlace.shown, additions };
    const next = nextLines(run, saved);
    run.console.out(
      planText({ plan: looked.plan, isSimulated, lock, next, columns, unicode, paint: paintFor(hasColor) }),
    );
    if (isSimulated && looked.plan.blockers.length > 0) run.console.out(mendingText);
  }
  const judged = { ...looked, fleet, targets };
  return run.own['detailedExitcode'] === true ? codeForPending(judged, additions) : codeForLook(judged);
};

function savedAt(run: Run): string | undefined {
  const { out } = run.own;
  return typeof out === 'string' ? resolve(run.folder, out) : undefined;
}

function nextLines(run: Run, saved: string | undefined): readonly string[] {
  if (saved !== undefined) {
    const shown = shownPath(run.folder, saved);
    return [`Saved in ${shown}.   Do exactly this: meshwright apply ${shown}${sameOptions(run, [])}`];
  }
  return [`Save it: --out plan.json   Do it: meshwright apply${sameOptions(run, run.words)}`];
}
