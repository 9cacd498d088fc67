import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import type { NodeName } from '../../model/node.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import type { Step } from '../../model/step.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import { authorizeRestart, restartBody } from '../../rack/boot/restart-script.ts';
import { read } from '../../rack/fact.ts';
import { lockedAtFileVault } from '../../remote/keys/host-key-trust.ts';
import type { StepResult } from '../execute.ts';
import { observeFleet } from '../reach/observe.ts';
import { pause, rebootPauseMs } from '../run-timing.ts';
import { readShownKey } from '../unlock-node.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf, subjectOf } from './context.ts';
import { installUpdate } from './install-update.ts';
import { sendRootScript } from './script.ts';

type SeenSession =
  | { readonly kind: 'session'; readonly uuid: string }
  /** It did not answer, or not completely; `problems` are the reasons. */
  | { readonly kind: 'silent'; readonly problems: readonly Diagnostic[] };

/**
 * Restarts or switches off a Mac at most once in the boot session of the plan: a mark on the node rejects any second
 * command, from any run. Only a new boot session, observed over a new connection, proves a restart.
 */
export async function runReboot(
  step: StepOf<'reboot'>,
  context: StepContext,
  see: typeof observe = observe,
): Promise<StepResult> {
  const { from, to } = step.act;
  const { node } = step;
  if (from.kind === 'unknown') {
    const detail = prose`${labelled(node)}the boot session was unknown when the plan was made (${from.reason}).`;
    return failed(diagnose('reboot/session-unknown', { subject: subjectOf(step), detail }));
  }
  const delaySeconds = context.timing.rebootDelaySeconds;
  const { install } = step.act;
  const sent =
    install === undefined
      ? await sendRootScript(step, context, () =>
          restartBody({ intent: `reboot-${from.value}`, from: from.value, to, delaySeconds }),
        )
      : await installUpdate(step, context, { ...install, from: from.value });
  // A command with an unknown result is not sent again: the boot session shows whether it arrived.
  if (sent.outcome === 'failed' || sent.outcome === 'interrupted') return sent;
  context.suspend(node);
  context.session(node).forget();
  const result = await (to === 'up' ? awaitReturn(step, from.value, context, see) : awaitSilence(step, context));
  if (answers(to, result)) await context.resume(node);
  return result;
}

/** Sends a Mac the password of its account, so that its next restart does not wait for it at FileVault. */
export async function runAuthorize(
  step: Step,
  args: ScriptArgs['authorize-restart'],
  context: StepContext,
): Promise<StepResult> {
  const secret = await context.passwordOf?.(step.node);
  if (secret === undefined) {
    const detail = `No password for ${step.node} is available without a prompt.`;
    return failed(diagnose('unlock/no-source', { subject: subjectOf(step), detail }));
  }
  return sendRootScript(step, context, (_rootPrefix, user) =>
    authorizeRestart(args, { user, password: secret.reveal() }),
  );
}

/** Whether the Mac was observed at the end, so that its lease can be renewed and released. */
const answers = (to: 'up' | 'off', { outcome, diagnostics }: StepResult): boolean =>
  (to === 'up' && outcome === 'changed') || diagnostics.some((one) => hasTrait(one, 'still-answers'));

/** Observes with growing pauses until `judge` gives a result; undefined after the deadline. */
async function watch(
  step: StepOf<'reboot'>,
  context: StepContext,
  judge: (seen: SeenSession) => Promise<StepResult | undefined> | StepResult | undefined,
  see = observe,
): Promise<StepResult | undefined> {
  const endMs = performance.now() + deadlineOf(step, context);
  for (let at = 0; performance.now() < endMs; at += 1) {
    await pause(rebootPauseMs(context.timing, at), context.signal);
    if (context.signal.aborted) return interrupted;
    const result = await judge(await see(step.node, context));
    if (result) return result;
  }
  return undefined;
}

async function observe(node: NodeName, context: StepContext): Promise<SeenSession> {
  const { observeMs, newBoundary, signal } = context;
  const limits = { deadlineMs: observeMs, parallel: 1, newBoundary, signal };
  const { nodes, failures } = await observeFleet([{ node, way: context.way(node) }], limits);
  const session = read(nodes[node]?.facts, bootSessionFact);
  if (session?.kind === 'known') return { kind: 'session', uuid: session.value.uuid };
  return { kind: 'silent', problems: failures[node] ?? [] };
}

async function awaitReturn(
  step: StepOf<'reboot'>,
  from: string,
  context: StepContext,
  see: typeof observe,
): Promise<StepResult> {
  let last: SeenSession | undefined;
  const judge = async (seen: SeenSession): Promise<StepResult | undefined> => {
    last = seen;
    if (seen.kind === 'session') {
      if (seen.uuid !== from) return { outcome: 'changed', diagnostics: [] };
      context.progress({ text: 'still shutting down' });
      return undefined;
    }
    const [problem] = seen.problems;
    context.progress({ text: problem ? `no answer yet (${problem.code})` : 'no answer yet' });
    const locked = problem === undefined ? undefined : await lockedBehind(step.node, problem, context);
    return locked === undefined ? undefined : unlockOr(step.node, locked, context);
  };
  return (await watch(step, context, judge, see)) ?? failed(notReturned(step, last));
}

/** The diagnostic of a Mac locked at FileVault; an unpinned host key may be its preboot key. */
async function lockedBehind(
  node: NodeName,
  problem: Diagnostic,
  context: StepContext,
): Promise<Diagnostic | undefined> {
  if (hasTrait(problem, 'locked')) return problem;
  const way = context.way(node);
  if (!hasTrait(problem, 'strange-key') || way.kind !== 'way') return undefined;
  const { observeMs: deadlineMs, signal } = context;
  const shown = await readShownKey(way, { deadlineMs, signal }).catch(() => undefined);
  if (shown === undefined) return undefined;
  const detail = `It shows the key ${shown.fingerprint}, which is not pinned yet.`;
  return { ...lockedAtFileVault(way.target, detail), subject: nodeSubject(node) };
}

/** Undefined to keep waiting: the Mac is unlocked or not reachable right now. Otherwise a person must unlock it. */
async function unlockOr(node: NodeName, locked: Diagnostic, context: StepContext): Promise<StepResult | undefined> {
  const blocked = (...more: readonly Diagnostic[]): StepResult => ({
    outcome: 'blocked',
    diagnostics: [{ ...locked, related: [...locked.related, ...more] }],
  });
  if (context.unlock === undefined) return blocked();
  const { signal } = context;
  const result = await context.unlock(node, { signal, onProgress: (text) => context.progress({ text }) });
  if (result.kind !== 'failed') return undefined;
  const { diagnostic, isSent } = result;
  if (hasTrait(diagnostic, 'interrupted')) return interrupted;
  if (!isSent) return blocked(diagnostic);
  // The result of sending the password says more than the lock itself.
  const problems = [{ ...diagnostic, related: [...diagnostic.related, locked] }];
  return { outcome: hasTrait(diagnostic, 'no-return') ? 'failed' : 'blocked', diagnostics: problems };
}

function notReturned(step: StepOf<'reboot'>, last: SeenSession | undefined): Diagnostic {
  const subject = subjectOf(step);
  if (last?.kind === 'session') {
    const detail = prose`${named(step.node)} still answers from the boot session ${last.uuid}, although it received the restart command.`;
    return diagnose('reboot/not-rebooted', { subject, detail });
  }
  const related = last?.problems ?? [];
  const reached = related[0] ? `the last attempt failed with ${related[0].code}` : 'it never answered';
  return diagnose('reboot/no-return', {
    subject,
    related,
    detail: prose`${named(step.node)} did not come back: ${reached}.`,
  });
}

/** Unanswered attempts in a row that prove a shutdown; a single one may be a network problem. */
const silencesForOff = 2;

/** Counts silent attempts; returns whether the Mac is off by now. */
export function silenceCounter(): (isSilent: boolean) => boolean {
  let silences = 0;
  return (isSilent) => {
    silences = isSilent ? silences + 1 : 0;
    return silences >= silencesForOff;
  };
}

async function awaitSilence(step: StepOf<'reboot'>, context: StepContext): Promise<StepResult> {
  const isOff = silenceCounter();
  const result = await watch(step, context, (seen) => {
    if (seen.kind === 'session') context.progress({ text: 'still shutting down' });
    return isOff(seen.kind === 'silent' && seen.problems.length > 0)
      ? { outcome: 'changed', diagnostics: [] }
      : undefined;
  });
  const detail = prose`${named(step.node)} still answers, although it received the shutdown command.`;
  return result ?? failed(diagnose('reboot/still-on', { subject: subjectOf(step), detail }));
}
