import { diagnose } from '../../diagnostics/diagnose.ts';
import { launchBody } from '../../engine/scripts/job.ts';
import type { MacosInstall } from '../../model/step.ts';
import { named, prose } from '../../model/text/prose.ts';
import { installKey, onceInSession } from '../../rack/macos/update-scripts.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../run-timing.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf, subjectOf } from './context.ts';
import { ending, pollOnce, sendRootScript } from './script.ts';

/**
 * Starts the installation of a macOS update at most once in the boot session, and follows it until the Mac stops
 * answering or the tool reports a failure. The installation outlives this run.
 */
export async function installUpdate(
  step: StepOf<'reboot'>,
  context: StepContext,
  { label, from }: MacosInstall & { readonly from: string },
): Promise<StepResult> {
  const key = installKey(step.node, from);
  const password = await context.passwordOf?.(step.node);
  if (password === undefined) {
    const detail = prose`There is no password for ${named(step.node)}.`;
    return failed(diagnose('upgrade/no-password', { subject: subjectOf(step), detail }));
  }
  const callOf = (user: string) => ({ name: 'install-macos' as const, args: { label, user } });
  const sent = await sendRootScript(
    step,
    context,
    (_, login) => onceInSession(key, from) + launchBody(key, callOf(login), { token: password.reveal() }),
  );
  if (sent.outcome === 'failed') return sent;
  const job = { ...step, act: { kind: 'job' as const, key, ...callOf('') } };
  const endMs = performance.now() + deadlineOf(step, context);
  while (performance.now() < endMs) {
    await pause(context.timing.jobPollMs, context.signal);
    if (context.signal.aborted) return interrupted;
    const poll = await pollOnce(job, context);
    // The Mac is going down, or restarted before this run looked.
    if ('code' in poll || poll.state === 'gone' || poll.state === 'absent') return sent;
    if (poll.state === 'ended' && poll.exit !== 0) return ending(job, poll, context);
    context.progress({ text: 'macOS is installing the update' });
  }
  const detail = prose`${named(step.node)} has not restarted. softwareupdate still runs there.`;
  return failed(diagnose('reboot/not-rebooted', { subject: subjectOf(step), detail }));
}
