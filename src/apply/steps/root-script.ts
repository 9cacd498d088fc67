import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Exit } from '../../model/exit.ts';
import type { Step } from '../../model/step.ts';
import { named, prose } from '../../model/text/prose.ts';
import { mutatingScript, type Sending } from '../../node/mutating-script.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { readScriptResult, type ScriptEnd } from '../../node/script-result.ts';
import { diagnoseExit } from '../../remote/exit-reasons.ts';
import { diagnoseSudo } from '../../remote/keys/sudo-answer.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../pause.ts';
import { deadlineOf, failed, type StepContext, stepName, subjectOf } from './context.ts';
import { scriptProblem } from './script-problem.ts';

/** How a script of root came out, with what it said on the way. */
export interface RootResult extends StepResult {
  /** Lines before its verdict, such as `job=attached`. */
  readonly said?: readonly string[];
  /** How the script itself named its failure. */
  readonly slug?: string;
  /** Set when nothing came to the node. */
  readonly isUnreached?: true;
}

/** The lines of a script for a node: under this prefix, with this account as the one that has logged in there. */
export type RootBody = (rootPrefix: string, login: string) => string;

/** Scripts print a few words; what is longer is no answer of ours. */
const maxBytes = 262_144;

/** How often a script that may be repeated is run at most when connections break off. */
const maxRuns = 3;

/**
 * Runs one body as root under the fence of the lease. What broke off is run again only when its class says that a
 * repetition does no harm; otherwise, and after a deadline, its end is unknown and the next observation tells.
 */
export async function sendRootScript(step: Step, context: StepContext, body: RootBody): Promise<RootResult> {
  const key = context.newToken();
  let result = await sendOnce(step, context, body, { key, attempt: 1 });
  for (let runs = 1; runs < maxRuns && mayRepeat(step, result) && !context.signal.aborted; runs += 1) {
    await pause(context.timing.retryMs * runs, context.signal);
    result = await sendOnce(step, context, body, { key, attempt: runs + 1 });
  }
  return result;
}

/** A `job` is found by its key when it was launched already. */
const mayRepeat = (step: Step, { outcome, diagnostics }: StepResult): boolean =>
  (step.class === 'converge' || step.class === 'job') &&
  outcome === 'unknown' &&
  diagnostics.some(({ code }) => code === 'ssh/dropped');

/** Runs one body as {@link sendRootScript} does, and never again by itself. */
export async function sendOnce(
  step: Step,
  context: StepContext,
  body: RootBody,
  sending?: Sending,
): Promise<RootResult> {
  const hold = context.hold(step.node);
  if (hold.kind === 'none') return failed(...hold.diagnostics);
  const { runId, verb, by, config } = context;
  const session = context.session(step.node);
  const answer = await session.ask((rootPrefix) => {
    const fence = { run: runId, token: hold.token };
    const script = mutatingScript({
      rootPrefix,
      fence,
      note: { step: step.id, verb, by, config },
      body: body(rootPrefix, session.user),
      ...(sending ? { sending } : {}),
      isSettling: step.act.kind === 'script' && step.act.name === 'settle-rollback',
      isLast: step.act.kind === 'script' && step.act.name === 'withdraw-node',
    });
    const name = 'name' in step.act ? step.act.name : step.act.kind;
    const limits = { name, deadlineMs: deadlineOf(step, context), maxBytes, stdin: Buffer.from(script) };
    return { command: mutatingCommand(rootPrefix), script, ...limits };
  });
  if (answer.kind === 'unreached') return { ...failed(...answer.diagnostics), isUnreached: true };
  const { exit, stdout, stderr } = answer.result;
  const end = { exit, stdout: textOf(stdout), stderr: textOf(stderr) };
  return judge(step, context, { ...end, user: session.user });
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

function judge(step: Step, context: StepContext, end: ScriptEnd & { readonly user: string }): RootResult {
  const result = readScriptResult(end);
  switch (result.kind) {
    case 'done':
      return { outcome: result.isChanged ? 'changed' : 'unchanged', diagnostics: [], said: result.said };
    case 'lease-lost':
      context.loseHold(step.node);
      return failed(leaseLost(step));
    case 'failed': {
      const sudo = diagnoseSudo(step.node, end.user, end.exit, end.stderr);
      return { ...failed(sudo ?? scriptProblem(step, result)), slug: result.slug };
    }
    case 'unknown':
      return { outcome: 'unknown', diagnostics: [unknownEnd(step, end.exit, result.reason)] };
  }
}

const leaseLost = (step: Step): Diagnostic =>
  diagnose('lease/lost', {
    subject: subjectOf(step),
    detail: prose`${named(step.node)} turned ${stepName(step)} away: the lease there is not held by this run any more.`,
  });

function unknownEnd(step: Step, exit: Exit, reason: string): Diagnostic {
  const hint = 'Run it again: it looks at the node first, and goes on from what is there.';
  const known = diagnoseExit(step.node, exit);
  if (known) return { ...known, detail: prose`${stepName(step)}: ${known.detail}`, hint };
  return diagnose('ssh/exit-unknown', { subject: subjectOf(step), detail: prose`${stepName(step)}: ${reason}.`, hint });
}
