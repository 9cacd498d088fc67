import { layoutOn } from '../../desired/layouts.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { firstFailingRank, type RankSaid } from '../../drivers/classify-log.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { Step } from '../../model/step.ts';
import { putBody } from '../../node/put-file.ts';
import { parseRankReport, type RankReportRequest, rankReportCommand } from '../../rack/placement/observed/rank-log.ts';
import { failingRankFinding } from '../../rack/placement/start/failing-rank-finding.ts';
import { printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { failed, type StepContext, type StepOf, type StepRunner } from './context.ts';
import { runDialogue } from './dialogue.ts';
import { runAsk, runGate } from './gate.ts';
import { runJob } from './job.ts';
import { runProve } from './prove.ts';
import { runReboot } from './reboot.ts';
import { runScript, runTransaction, sendRootScript } from './script.ts';
import { runSend } from './send.ts';

/** Whether the step is of this kind. */
const isOf = <K extends Step['act']['kind']>(step: Step, kind: K): step is StepOf<K> => step.act.kind === kind;

function runByKind(step: Step, context: StepContext): Promise<StepResult> {
  if (isOf(step, 'script')) return runScript(step, context);
  if (isOf(step, 'transaction')) return runTransaction(step, context);
  if (isOf(step, 'put')) return runPut(step, context);
  if (isOf(step, 'send')) return runSend(step, context);
  if (isOf(step, 'job')) return runJob(step, context);
  if (isOf(step, 'gate')) return runGate(step, context);
  if (isOf(step, 'ask')) return runAsk(step, context);
  if (isOf(step, 'dialogue')) return runDialogue(step, context);
  if (isOf(step, 'prove')) return runProve(step, context);
  if (isOf(step, 'reboot')) return runReboot(step, context);
  if (isOf(step, 'hands')) return runHands(step, context);
  throw new Error(`no runner for a step of kind ${step.act.kind}`);
}

/** Runs a step by its kind. What the controller itself lacks makes it fail; anything else that is thrown is a bug. */
export async function runStep(step: Step, context: StepContext): Promise<StepResult> {
  try {
    return await withFailingRank(step, context, await runByKind(step, context));
  } catch (error) {
    if (error instanceof FleetError) return failed(...error.diagnostics);
    throw error;
  }
}

/** Writes a file of ours as root. */
const runPut: StepRunner<'put'> = (step, context) => {
  const { path, mode, content } = step.act;
  return sendRootScript(step, context, (rootPrefix, login) => putBody({ path, mode, content, rootPrefix, login }));
};

/** What only a person can do is not done by a run; the work list of the plan says what it is. */
const runHands: StepRunner<'hands'> = () => Promise.resolve({ outcome: 'blocked', diagnostics: [] });

/** How much of a log is read. */
const readLines = 200;
const reportDeadlineMs = 10_000;
const reportMaxBytes = 65_536;

/**
 * The result of a step of a start; one that failed also says which rank failed first, what that rank said last, what it
 * means and what to do. It is read before anything stops the ranks.
 */
export async function withFailingRank(step: Step, context: StepContext, result: StepResult): Promise<StepResult> {
  const placement = startedBy(step, context);
  if (result.outcome !== 'failed' || placement === undefined) return result;
  // An answer that is slow or another one is no failure of a rank.
  const isAnswered = step.act.kind === 'prove' && !result.diagnostics.some(({ code }) => code === 'ask/no-token');
  if (isAnswered) return result;
  const runtime = context.desired.runtimes.find(({ name }) => name === placement.runtime);
  if (runtime === undefined) return result;
  const { signatures, requestPattern } = driverOf(runtime);
  const asked = { placement: placement.name, lines: readLines, requestPattern };
  const ranks = await Promise.all(placement.nodes.map((node, rank) => askRank(context, asked, node, rank)));
  const failing = firstFailingRank(signatures, ranks);
  const finding = failingRankFinding(placement, failing, ranks, context.desired);
  return { ...result, diagnostics: [...result.diagnostics, finding] };
}

/** The placement that a step starts: steps of its group, but for those that make it ready or stop it. */
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

async function askRank(
  context: StepContext,
  asked: Omit<RankReportRequest, 'rootPrefix'>,
  node: NodeName,
  rank: number,
): Promise<RankSaid> {
  const answer = await context.session(node).ask((rootPrefix) => ({
    name: 'rank-report',
    command: rankReportCommand({ ...asked, rootPrefix }),
    deadlineMs: reportDeadlineMs,
    maxBytes: reportMaxBytes,
  }));
  if (answer.kind === 'unreached') return { node, rank, lines: [] };
  return { node, rank, ...parseRankReport(printedText(answer.result).stdout) };
}
