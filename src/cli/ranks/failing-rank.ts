import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type FailingRank, firstFailingRank, type RankSaid } from '../../drivers/classify-log.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { parseRankReport, rankReportCommand } from '../../rack/placement/observed/rank-report.ts';
import { failingRankFinding } from '../../rack/placement/start/failing-rank-finding.ts';
import type { Ways } from '../cluster/ways.ts';
import { answerText, askNodes, isAnswered } from '../look/ask-nodes.ts';
import type { Run } from '../verb/verb.ts';

/** Lines of a log in which a failure is looked for. */
const readLines = 200;

/** The rank of one placement that failed first, and how that is told. */
export interface FoundRank {
  readonly placement: string;
  readonly failing: FailingRank;
  readonly finding: Diagnostic;
}

/**
 * Asks all nodes of a placement how their ranks ended and what they said since the last start; nothing where no rank
 * failed, or where not every node answers: then another one may have failed first.
 */
export async function findFailingRank(
  run: Run,
  { desired, ways }: { readonly desired: DesiredFleet; readonly ways: Ways },
  name: string,
): Promise<FoundRank | undefined> {
  const placement = desired.placements.find((one) => one.name === name);
  const runtime = desired.runtimes.find((one) => one.name === placement?.runtime);
  if (placement === undefined || runtime === undefined) return undefined;
  const nodes = placement.nodes.flatMap((node) => desired.nodes.filter((one) => one.name === node));
  const { signatures, requestPattern } = driverOf(runtime);
  const outcomes = await askNodes(run, { nodes, ways }, (_node, rootPrefix) => ({
    name: 'rank-report',
    command: rankReportCommand({ placement: name, lines: readLines, requestPattern, rootPrefix }),
  }));
  const answered = outcomes.filter(isAnswered);
  if (answered.length < placement.nodes.length) return undefined;
  const ranks = answered.map(
    (outcome): RankSaid => ({
      node: outcome.node,
      rank: placement.nodes.indexOf(outcome.node),
      ...parseRankReport(answerText(outcome)),
    }),
  );
  const failing = firstFailingRank(signatures, ranks);
  return failing === undefined
    ? undefined
    : { placement: name, failing, finding: failingRankFinding(placement, failing, ranks, desired) };
}
