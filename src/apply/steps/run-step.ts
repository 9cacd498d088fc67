import { layoutOn } from '../../desired/layouts.ts';
import { FleetError, hasTrait } from '../../diagnostics/diagnostic.ts';
import { firstFailingRank } from '../../drivers/classify-log.ts';
import { driverOf } from '../../drivers/registry.ts';
import { scriptBody } from '../../engine/scripts/registry.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import type { Step } from '../../model/step.ts';
import { durationText } from '../../model/text/units.ts';
import { putBody } from '../../node/put-file.ts';
import { failingRankFinding } from '../../rack/placement/mesh/failing-rank-finding.ts';
import type { StepResult } from '../execute.ts';
import { failed, type StepContext, type StepRunner, scaledCall } from './context.ts';
import { runDialogue } from './dialogue.ts';
import { runAsk, runGate } from './gate.ts';
import { runProve } from './prove.ts';
import { askRank } from './rank-words.ts';
import { runAuthorize, runReboot } from './reboot.ts';
import {
  type RootBody,
  type RootResult,
  runJob,
  runTransaction,
  runWithdraw,
  sendRootScript,
  stopWords,
} from './script.ts';
import { runSend } from './send.ts';

/** Runs a step by its kind. A FleetError of the controller fails the step; any other error is a bug. */
export async function runStep(step: Step, context: StepContext): Promise<StepResult> {
  const patience = patienceOf(step, context);
  try {
    const body = bodyOf(step, context);
    const result: RootResult =
      body === undefined ? await runnerOf(step.act.kind)(step, context) : await sendRootScript(step, context, body);
    const diagnostics = [...result.diagnostics, ...stopWords(step, result.said)];
    return await withFailingRank(step, context, { outcome: result.outcome, diagnostics });
  } catch (error) {
    if (error instanceof FleetError) return failed(...error.diagnostics);
    throw error;
  } finally {
    clearTimeout(patience);
  }
}

/** The body of a step that consists of one root script; undefined for all others. */
function bodyOf({ act }: Step, { timing }: StepContext): RootBody | undefined {
  if (act.kind === 'put') return (rootPrefix, login) => putBody({ ...act, rootPrefix, login });
  const isOwn = act.kind === 'script' && act.name !== 'withdraw-node' && act.name !== 'authorize-restart';
  return isOwn ? () => scriptBody(scaledCall(act, timing)) : undefined;
}

/** Says why a rank is not stopped at once, if it does not exit in a moment. */
function patienceOf({ act }: Step, { progress }: StepContext): NodeJS.Timeout | undefined {
  if (act.kind !== 'script' || act.name !== 'stop-rank' || act.args.patienceMs === undefined) return undefined;
  const text = `waiting up to ${durationText(act.args.patienceMs)} for its exit, because SIGKILL may cost a reboot`;
  return setTimeout(() => progress({ text }), silenceMs);
}

const silenceMs = 2_000;

const runners: { readonly [K in Exclude<Step['act']['kind'], 'put'>]: StepRunner<K> } = {
  // The first needs a secret, and `withdraw-node` has to suspend the lease.
  script: (step, context) =>
    step.act.name === 'authorize-restart' ? runAuthorize(step, step.act.args, context) : runWithdraw(step, context),
  transaction: runTransaction,
  send: runSend,
  job: runJob,
  gate: runGate,
  ask: runAsk,
  dialogue: runDialogue,
  prove: runProve,
  reboot: runReboot,
  // A run skips manual steps; the plan lists them.
  hands: () => Promise.resolve({ outcome: 'blocked', diagnostics: [] }),
};

const runnerOf = (kind: Step['act']['kind']) =>
  runners[kind as keyof typeof runners] as StepRunner<Step['act']['kind']>;

/** Adds which rank failed first, its last log lines, and what to do. Reads the logs before anything stops the ranks. */
export async function withFailingRank(step: Step, context: StepContext, result: StepResult): Promise<StepResult> {
  const placement = startedBy(step, context);
  if (result.outcome !== 'failed' || placement === undefined) return result;
  // A slow or different answer is not the failure of a rank.
  const isAnswered = step.act.kind === 'prove' && !result.diagnostics.some((one) => hasTrait(one, 'no-token'));
  if (isAnswered) return result;
  const runtime = context.desired.runtimes.find(({ name }) => name === placement.runtime);
  if (runtime === undefined) return result;
  const driver = driverOf(runtime);
  const ranks = await Promise.all(
    placement.nodes.map((node, rank) => askRank(context, { placement: placement.name, driver, node, rank })),
  );
  const failing = firstFailingRank(driver.signatures, ranks);
  const finding = failingRankFinding(placement, failing, ranks, context.desired);
  return { ...result, diagnostics: [...result.diagnostics, finding] };
}

/** The placement that a step starts; undefined for steps of its group that prepare or stop it. */
function startedBy(
  { resource, group, act, node, peers }: Step,
  { desired }: StepContext,
): DesiredPlacement | undefined {
  const isOfStart =
    act.kind === 'gate' ||
    act.kind === 'ask' ||
    act.kind === 'prove' ||
    act.kind === 'dialogue' ||
    (act.kind === 'script' && act.name === 'kick-rank');
  if (resource !== 'placement' || group === undefined || !isOfStart) return undefined;
  const placement = desired.placements.find(({ name }) => name === group);
  return placement === undefined ? undefined : layoutOn(placement, [node, ...peers]);
}
