import { finalLine, type RankSaid } from '../../drivers/classify-log.ts';
import type { RuntimeDriver } from '../../drivers/contract/driver.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { NodeName } from '../../model/node.ts';
import { parseRankReport, rankReportCommand } from '../../rack/placement/observed/rank-log-script.ts';
import { printedText } from '../../remote/remote.ts';
import type { StepContext } from './context.ts';

interface AskedRank {
  readonly placement: string;
  readonly driver: Pick<RuntimeDriver, 'requestPattern'>;
  readonly node: NodeName;
  readonly rank: number;
}

/** The exit of a rank and its last log lines since the start. */
export async function askRank(context: StepContext, { placement, driver, node, rank }: AskedRank): Promise<RankSaid> {
  const { requestPattern } = driver;
  const answer = await context.session(node).ask((rootPrefix) => ({
    name: 'rank-report',
    command: rankReportCommand({ placement, lines: 200, requestPattern, rootPrefix }),
    deadlineMs: 10_000,
    maxBytes: 65_536,
  }));
  if (answer.kind === 'unreached') return { node, rank, lines: [] };
  return { node, rank, ...parseRankReport(printedText(answer.result).stdout) };
}

/** The leader's log line after which its endpoint refuses every request; undefined if there is none. */
export async function leadersFinalLine(
  context: StepContext,
  placement: string,
  node: NodeName,
): Promise<string | undefined> {
  const { placements, runtimes } = context.desired;
  const name = placements.find((one) => one.name === placement)?.runtime;
  const runtime = runtimes.find((one) => one.name === name);
  const driver = runtime === undefined ? undefined : driverOf(runtime);
  if (driver?.signatures.some(({ isFinal }) => isFinal === true) !== true) return undefined;
  const { lines } = await askRank(context, { placement, driver, node, rank: 0 });
  return finalLine(driver.signatures, lines);
}
