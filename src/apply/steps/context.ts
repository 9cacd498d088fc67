import type { Diagnostic, NonEmpty } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { ScriptCall } from '../../model/node-script.ts';
import type { Secret } from '../../model/secret.ts';
import type { Step, StepProgress } from '../../model/step.ts';
import { nodeSubject, type Subject } from '../../model/subject.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import type { ScriptNote } from '../../node/root-script.ts';
import type { KeyPair } from '../../remote/keys/exchange-key.ts';
import type { ResolvedSecret } from '../../secrets/resolve-secret.ts';
import type { StepResult } from '../execute.ts';
import type { Session, SshTarget } from '../reach/session.ts';
import { pause, type RunTiming, timeFor } from '../run-timing.ts';
import type { NodeUnlock } from '../unlock-node.ts';

export type OwnLease =
  | { readonly kind: 'leased'; readonly fencingToken: number }
  | { readonly kind: 'none'; readonly diagnostics: NonEmpty<Diagnostic> };

/** The end of a program that orders an update, with the reason unless it was successful. */
export type UpdateOrder =
  | { readonly kind: 'ordered' }
  /** `unknown`: the program was stopped, so it may have ordered the update. */
  | { readonly kind: 'refused' | 'unknown'; readonly why: string };

/** What a step runner may use in addition to the step itself. */
export interface StepContext extends Omit<ScriptNote, 'step'> {
  readonly runId: string;
  /** The resolved file behind the plan: gates read the same properties. */
  readonly desired: DesiredFleet;
  readonly timing: RunTiming;
  /** 32 hexadecimal digits, new for every observation. */
  readonly newBoundary: () => string;
  /** Time limit for one node's observation or connection, in ms. */
  readonly observeMs: number;
  /** Aborted when the step must stop waiting. */
  readonly signal: AbortSignal;
  readonly session: (node: NodeName) => Session;
  /** A separate session over a new connection; the caller closes it. */
  readonly newSession: (node: NodeName) => Session;
  /** The SSH target itself, for a separate connection. */
  readonly way: (node: NodeName) => SshTarget;
  readonly lease: (node: NodeName) => OwnLease;
  /** Reports that the node's fence rejected a script, because another run has the lease now. */
  readonly loseLease: (node: NodeName) => void;
  /** Stops renewing the lease while a node restarts, so that it does not count as lost. */
  readonly suspend: (node: NodeName) => void;
  readonly resume: (node: NodeName) => Promise<void>;
  /** Called before the script that removes our SSH access; the script waits for it. */
  readonly onWithdraw?: (node: NodeName) => Promise<void>;
  /** Unlocks a Mac that restarted to its FileVault lock; absent if none can be unlocked without a person. */
  readonly unlock?: NodeUnlock;
  /** The password of a Mac's account; undefined if its source in the file needs input that this run did not get. */
  readonly passwordOf?: (node: NodeName) => Promise<Secret | undefined>;
  /** Lets the program in the file order the installation of a macOS update on a Mac. */
  readonly orderUpdate?: (node: NodeName) => Promise<UpdateOrder>;
  /** Reads the Hugging Face token, once per run; undefined if the file has no source for it. */
  readonly token?: () => Promise<ResolvedSecret | undefined>;
  /** With this secret, the Macs of this run recognize each other when they exchange a model. */
  readonly peerKey: string;
  /** The key pair with which they log in to each other, the same one at each call. */
  readonly exchangeKeys: () => KeyPair;
  readonly progress: (progress: StepProgress) => void;
}

export type StepOf<K extends Step['act']['kind']> = Step & { readonly act: Extract<Step['act'], { readonly kind: K }> };

/** Runs the steps of one kind. Rejects only for a bug, or with FleetError for a problem of the controller itself. */
export type StepRunner<K extends Step['act']['kind']> = (step: StepOf<K>, context: StepContext) => Promise<StepResult>;

/** Minimum deadlines in ms: the scripts run at this computer's speed, however fast the simulated clocks are. */
const scriptAtLeastMs = 30_000;
const atLeastMs: Readonly<Partial<Record<Step['act']['kind'], number>>> = {
  gate: 10_000,
  ask: 10_000,
  prove: 10_000,
  dialogue: 60_000,
  reboot: 1_000,
};

/** Scripts that sleep between checks or signals. A simulated clock does not shorten that, so they have their whole deadline. */
const sleepingScripts: readonly string[] = ['drain-endpoint', 'stop-rank'];

/** A step's deadline, scaled to the run's clock. */
export function deadlineOf({ act, deadlineMs }: Step, { timing }: Pick<StepContext, 'timing'>): number {
  if (act.kind === 'script' && sleepingScripts.includes(act.name)) return deadlineMs;
  return Math.round(timeFor(deadlineMs, timing, atLeastMs[act.kind] ?? scriptAtLeastMs));
}

/** A script with the wait that a simulated clock shortens. */
export function scaledCall(call: ScriptCall, { scale }: Pick<RunTiming, 'scale'>): ScriptCall {
  if (call.name !== 'stop-rank' || call.args.patienceMs === undefined) return call;
  return { ...call, args: { ...call.args, patienceMs: call.args.patienceMs * scale } };
}

const maxAttempts = 3;

/** Pauses before the next attempt, longer each time; false after the last attempt or once the signal has aborted. */
export async function pauseToRetry({ timing, signal }: StepContext, attempts: number): Promise<boolean> {
  if (attempts >= maxAttempts || signal.aborted) return false;
  await pause(timing.retryMs * attempts, signal);
  return true;
}

/** A step's id as text. It begins with the node's name, so that the same problem on several nodes can be merged. */
export const stepName = ({ id, node }: Step): Prose =>
  id.startsWith(`${node}/`) ? prose`${named(node)}${id.slice(node.length)}` : id;

export const subjectOf = (step: Step): Subject => nodeSubject(step.node);

export const failed = (...diagnostics: readonly Diagnostic[]): StepResult => ({ outcome: 'failed', diagnostics });

/** The run no longer waits for this step; the next observation shows its effect. */
export const interrupted: StepResult = { outcome: 'interrupted', diagnostics: [] };
