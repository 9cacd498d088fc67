import { layoutOn } from '../../desired/fallback.ts';
import { firstFailingRank, type RankSaid } from '../../drivers/classify-log.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { Step } from '../../model/step.ts';
import {
  parseRankReport,
  type RankReportRequest,
  rankReportCommand,
} from '../../rack/placement/observed/rank-report.ts';
import { failingRankFinding } from '../../rack/placement/start/failing-rank-finding.ts';
import type { StepResult } from '../execute.ts';
import type { StepContext } from './context.ts';

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
  return { node, rank, ...parseRankReport(Buffer.from(answer.result.stdout).toString('utf8')) };
}
