import type { Diagnostic, NonEmpty } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { Step } from '../../model/step.ts';
import { nodeSubject, type Subject } from '../../model/subject.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import type { StepResult } from '../execute.ts';
import type { Session, Way } from '../reach/session.ts';
import { pause, type RunTiming } from '../run-timing.ts';
import type { NodeUnlock } from '../unlock-node.ts';

/** The hold of this run on a node, or why it has none there. */
export type Hold =
  | { readonly kind: 'held'; readonly token: number }
  | { readonly kind: 'none'; readonly diagnostics: NonEmpty<Diagnostic> };

/** How far a step has come; bytes for steps that move some. */
export interface StepProgress {
  readonly doneBytes?: number;
  readonly totalBytes?: number;
  readonly text?: string;
}

/** What a runner may use. Everything that a step says is in the step itself. */
export interface StepContext {
  readonly runId: string;
  /** For the record on the node: what was typed, by whom, from which file. */
  readonly verb: string;
  readonly by: string;
  readonly config: string;
  readonly desired: DesiredFleet;
  readonly timing: RunTiming;
  /** How long one node may take to answer an observation or to take a connection. */
  readonly lookMs: number;
  /** 32 hexadecimal digits, new for every observation. */
  readonly newToken: () => string;
  /** Aborted when the step is to wait no more. */
  readonly signal: AbortSignal;
  readonly session: (node: NodeName) => Session;
  /** A session of its own over a new connection, which whoever asks for it closes. */
  readonly newSession: (node: NodeName) => Session;
  /** The way itself, for a fresh connection of its own. */
  readonly way: (node: NodeName) => Way;
  readonly hold: (node: NodeName) => Hold;
  /** The fence of a node turned a script away: somebody else holds it now. */
  readonly loseHold: (node: NodeName) => void;
  /** While a node restarts its lease cannot be renewed, and that is no loss. */
  readonly suspend: (node: NodeName) => void;
  readonly resume: (node: NodeName) => Promise<void>;
  /** Writes down that nobody may get into a node from here on. */
  readonly onWithdraw?: (node: NodeName) => Promise<void>;
  readonly progress: (progress: StepProgress) => void;
  /** Unlocks a Mac that came back locked at FileVault, where that needs no person. */
  readonly unlock?: NodeUnlock;
}

/** A step whose act is of one kind. */
export type StepOf<K extends Step['act']['kind']> = Step & { readonly act: Extract<Step['act'], { readonly kind: K }> };

/** Runs the steps of one kind. Rejects only for a bug, or with FleetError for what the controller itself lacks. */
export type StepRunner<K extends Step['act']['kind']> = (step: StepOf<K>, context: StepContext) => Promise<StepResult>;

/** As long as a step may take at least on this computer, whatever the clocks of simulated Macs do, in milliseconds. */
const atLeastMs: Readonly<Record<Step['act']['kind'], number>> = {
  script: 30_000,
  transaction: 30_000,
  put: 30_000,
  send: 30_000,
  job: 30_000,
  gate: 10_000,
  ask: 10_000,
  prove: 10_000,
  dialogue: 60_000,
  reboot: 1_000,
  hands: 0,
};

/** The deadline of a step in the time of this run. */
export function deadlineOf({ act, deadlineMs }: Step, { timing }: Pick<StepContext, 'timing'>): number {
  return Math.max(Math.min(deadlineMs, atLeastMs[act.kind]), Math.round(deadlineMs * timing.scale));
}

/** How often a step is tried at most, the first time included. */
const maxRuns = 3;

/** Does again what is worth it, after a pause that grows, as long as the step may wait. */
export async function tryAgain<T>(
  { timing, signal }: StepContext,
  act: (attempt: number) => Promise<T>,
  isWorthIt: (result: T) => boolean,
): Promise<T> {
  let result = await act(1);
  for (let runs = 1; runs < maxRuns && isWorthIt(result) && !signal.aborted; runs += 1) {
    await pause(timing.retryMs * runs, signal);
    result = await act(runs + 1);
  }
  return result;
}

/** The id of a step in a text. It begins with the name of its node, so that those of several nodes can be told as one. */
export const stepName = ({ id, node }: Step): Prose =>
  id.startsWith(`${node}/`) ? prose`${named(node)}${id.slice(node.length)}` : id;

/** The subject of diagnostics about a step. */
export const subjectOf = (step: Step): Subject => nodeSubject(step.node);

/** A step that is known not to have done its work. */
export const failed = (...diagnostics: readonly Diagnostic[]): StepResult => ({ outcome: 'failed', diagnostics });

/** A step that nobody waits for any more; what it left behind is seen by the next observation. */
export const interrupted: StepResult = { outcome: 'interrupted', diagnostics: [] };
