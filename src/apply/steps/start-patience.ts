import type { NodeName } from '../../model/node.ts';
import type { Patience, Step } from '../../model/step.ts';
import {
  parseRankProgress,
  type RankProgress,
  rankProgressCommand,
} from '../../rack/placement/observed/rank-progress.ts';
import { furthest, hasProgressed } from '../../rack/placement/start/start-deadline.ts';
import { deadlineOf, type StepContext } from './context.ts';

/** How a step of a start is waited for. */
export interface StartPatience {
  /** Whether to wait on: not past the deadline of the step, and not when nothing has moved for its time. */
  readonly isLeft: () => boolean;
  /** Milliseconds until it ends if nothing moves. */
  readonly leftMs: () => number;
  /** Milliseconds until it ends however much moves. */
  readonly boundMs: () => number;
  /** Whether a rank that had memory has none any more: its processes are gone. */
  readonly isGone: () => boolean;
  /** Looks how far the ranks have come. */
  readonly look: () => Promise<void>;
}

const lookDeadlineMs = 5_000;
const lookMaxBytes = 4_096;

/** A step that waits for ranks, and how long without any progress; without that only its deadline counts. */
export interface WaitingStep extends Step {
  readonly act: Step['act'] & { readonly patience?: Patience };
}

/** How long the file gives the first token of a loaded mesh, in the time of this run. */
export const promisedMs = (step: WaitingStep, context: Pick<StepContext, 'timing'>): number =>
  deadlineOf({ ...step, deadlineMs: step.act.patience?.stallMs ?? step.deadlineMs }, context);

/** @see docs/mesh.md: how long it is waited for */
const leastStallMs = ({ act }: Step, { timing }: StepContext): number =>
  act.kind === 'ask' ? timing.tokenStallMs : timing.gateStallMs;

/** The patience with one step, from now on. */
export function startPatience(step: WaitingStep, context: StepContext): StartPatience {
  const { patience } = step.act;
  const boundMs = deadlineOf(step, context);
  const stallMs = patience === undefined ? boundMs : Math.max(promisedMs(step, context), leastStallMs(step, context));
  const endMs = performance.now() + Math.max(boundMs, stallMs);
  let isGone = false;
  let movedAtMs = performance.now();
  const ranks = new Map<NodeName, RankProgress>();
  const nodes = [step.node, ...step.peers];
  const leftMs = (): number => Math.min(endMs, movedAtMs + stallMs) - performance.now();
  const lookAt = async (placement: string, node: NodeName): Promise<void> => {
    const answer = await context.session(node).ask((rootPrefix) => ({
      name: 'rank-progress',
      command: rankProgressCommand(placement, rootPrefix),
      deadlineMs: lookDeadlineMs,
      maxBytes: lookMaxBytes,
    }));
    if (answer.kind === 'unreached') return;
    const now = parseRankProgress(Buffer.from(answer.result.stdout).toString('utf8'));
    const before = ranks.get(node);
    if (now === undefined) return;
    isGone ||= before !== undefined && before.residentBytes > 0 && now.residentBytes === 0;
    ranks.set(node, before === undefined ? now : furthest(before, now));
    if (before !== undefined && hasProgressed(before, now)) movedAtMs = performance.now();
  };
  return {
    isLeft: () => leftMs() > 0,
    leftMs,
    boundMs: () => endMs - performance.now(),
    isGone: () => isGone,
    look: async () => {
      if (patience === undefined) return;
      await Promise.all(nodes.map((node) => lookAt(patience.placement, node)));
    },
  };
}
