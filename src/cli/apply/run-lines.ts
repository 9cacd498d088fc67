import { transferPhrase } from '../../apply/progress/transfer-text.ts';
import {
  nodeProgress,
  type TransferProgress,
  transferNodes,
  transfersAfter,
  transfersIn,
  wholeProgress,
} from '../../apply/progress/transfers.ts';
import type { RunEvent } from '../../apply/run-events.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { transferOf } from '../../engine/plan/transfers.ts';
import type { StepId } from '../../model/step.ts';
import { endedStepLines, madeChangeLine, progressLine, watchChanges } from '../../report/run/apply-text.ts';

/** The time between two progress lines of one step or node; doubles each time while there is no progress. */
const progressEveryMs = 10_000;
const longestSilenceMs = 300_000;

/** A progress line that was printed, or the start if `line` is empty. */
interface ReportedLine {
  readonly atMs: number;
  readonly line: string;
  readonly nextAfterMs: number;
}

const isDue = ({ atMs, nextAfterMs }: ReportedLine, nowMs: number): boolean => nowMs - atMs >= nextAfterMs;

const reportedAgain = (before: ReportedLine, line: string, isStill: boolean, atMs: number): ReportedLine => ({
  atMs,
  line,
  nextAfterMs: isStill ? Math.min(longestSilenceMs, 2 * before.nextAfterMs) : progressEveryMs,
});

/** The lines about transfers: one per node, and one for all of them. */
function createTransferLines() {
  let transfers = transfersIn([]);
  /** The last line of each running transfer, by node. */
  const reported = new Map<string, ReportedLine>();

  function lineOf(name: string, progress: TransferProgress | undefined, nowMs: number): readonly string[] {
    if (progress?.isRunning !== true) {
      reported.delete(name);
      return [];
    }
    const before = reported.get(name);
    if (before === undefined) reported.set(name, { atMs: nowMs, line: '', nextAfterMs: progressEveryMs });
    if (before === undefined || !isDue(before, nowMs)) return [];
    const line = `${name} ${transferPhrase(progress)}`;
    // Hours may pass until a download may begin.
    if (progress.waitsUntil !== undefined && line === before.line) return [];
    reported.set(name, reportedAgain(before, line, progress.stillMs !== undefined, nowMs));
    return [line];
  }

  const linesAt = (nowMs: number): readonly string[] => [
    ...transferNodes(transfers).flatMap((node) => lineOf(node, nodeProgress(transfers, node, nowMs), nowMs)),
    ...lineOf('total', wholeProgress(transfers, nowMs), nowMs),
  ];
  return {
    begin: ({ steps }: Pick<Plan, 'steps'>): void => {
      transfers = transfersIn(steps);
      reported.clear();
    },
    linesAfter: (event: RunEvent, nowMs: number): readonly string[] => {
      transfers = transfersAfter(transfers, event, nowMs);
      return linesAt(nowMs);
    },
    linesAt,
  };
}

/** The lines of a run without a terminal. All times come from the caller's clock. */
export function createRunLines() {
  const transfers = createTransferLines();
  let watch = watchChanges({ changes: [], steps: [] });
  /** Steps whose bytes are shown in their node's line. */
  let transferIds: ReadonlySet<StepId> = new Set();
  /** The time when each change's first step started. */
  const beganAtMs = new Map<string, number>();
  /** Each running step's last progress line. */
  const reported = new Map<StepId, ReportedLine>();

  function endLines(event: Extract<RunEvent, { kind: 'step-ended' }>, nowMs: number): readonly string[] {
    reported.delete(event.step.id);
    // A restart is reported by its own step.
    const hasOwnLine = event.rescues !== undefined || event.step.act.kind === 'reboot';
    const made = hasOwnLine ? [] : watch.ended(event);
    const lines = made.map((change) => madeChangeLine({ change, ms: nowMs - (beganAtMs.get(change.id) ?? nowMs) }));
    return [...lines, ...endedStepLines(event)];
  }

  function progressLines(event: Extract<RunEvent, { kind: 'step-progress' }>, nowMs: number): readonly string[] {
    const before = reported.get(event.step);
    if (before === undefined || transferIds.has(event.step) || !isDue(before, nowMs)) return [];
    const line = progressLine({ node: event.node, id: event.step }, event);
    reported.set(event.step, reportedAgain(before, line, line === before.line, nowMs));
    return [line];
  }

  function stepLines(event: RunEvent, nowMs: number): readonly string[] {
    if (event.kind === 'step-ended') return endLines(event, nowMs);
    if (event.kind === 'step-progress') return progressLines(event, nowMs);
    if (event.kind === 'step-started') {
      reported.set(event.step.id, { atMs: nowMs, line: '', nextAfterMs: progressEveryMs });
      for (const id of event.step.changes) if (!beganAtMs.has(id)) beganAtMs.set(id, nowMs);
    }
    return runLines(event);
  }

  return {
    /** Forgets the previous plan. */
    begin: (plan: Pick<Plan, 'changes' | 'steps'>): void => {
      watch = watchChanges(plan);
      transferIds = new Set(plan.steps.filter((step) => transferOf(step) !== undefined).map(({ id }) => id));
      beganAtMs.clear();
      transfers.begin(plan);
    },
    linesFor: (event: RunEvent, nowMs: number): readonly string[] => [
      ...stepLines(event, nowMs),
      ...transfers.linesAfter(event, nowMs),
    ],
    /** The lines about transfers that are due now. */
    transferLines: transfers.linesAt,
  };
}

function runLines(event: RunEvent): readonly string[] {
  switch (event.kind) {
    case 'lease':
      return event.state === 'taken' || event.state === 'released' ? [] : [leaseText(event)];
    case 'reconnecting':
      return [`${event.node}: connection lost; connecting again (attempt ${event.attempt})`];
    case 'rescue-started':
      return [`${event.group}: a step failed; stopping the processes that were started`];
    default:
      return [];
  }
}

const leaseWords: Readonly<Record<string, string>> = {
  waiting: 'is leased to another run; waiting for it',
  expired: 'was leased to a run that ended or no longer renews its lease; taking over the lease',
  refused: 'is leased to another run',
  lost: 'is now leased to another run; no more steps are started',
};

/** A lease event as a sentence without a period. */
export function leaseText({ node, state, holder }: Extract<RunEvent, { readonly kind: 'lease' }>): string {
  const who = holder === undefined ? '' : `: ${holder.verb} by ${holder.owner}, run ${holder.run}`;
  return `${node} ${leaseWords[state] ?? state}${who}`;
}
