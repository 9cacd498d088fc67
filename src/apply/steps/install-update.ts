import { diagnose } from '../../diagnostics/diagnose.ts';
import { launchBody } from '../../engine/scripts/job.ts';
import type { MacosInstall } from '../../model/step.ts';
import { named, prose } from '../../model/text/prose.ts';
import { installArgs, installKey, onceInSession, refuseOrder } from '../../rack/macos/update-scripts.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../run-timing.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf, subjectOf } from './context.ts';
import { ending, pollOnce, type RootResult, sendRootScript } from './script.ts';

type Install = MacosInstall & { readonly from: string };

/**
 * Starts the installation of a macOS update at most once in the boot session, and follows it until the Mac stops
 * answering or the tool reports a failure. The installation outlives this run.
 */
export async function installUpdate(
  step: StepOf<'reboot'>,
  context: StepContext,
  install: Install,
): Promise<StepResult> {
  const sent = await (install.by === undefined ? startTool : orderOnce)(step, context, install);
  if (sent.outcome === 'failed') return sent;
  const key = installKey(step.node, install.from);
  const job = { ...step, act: { kind: 'job' as const, key, name: 'install-macos' as const, args: install } };
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
  if (install.by !== undefined) return notRestarted(step, 'The update was ordered in this boot session.');
  const detail = prose`${named(step.node)} has not restarted. softwareupdate still runs there.`;
  return failed(diagnose('reboot/not-rebooted', { subject: subjectOf(step), detail }));
}

/** Launches the job that every run finds on the Mac; a second launch in this boot session changes nothing. */
function launch(
  step: StepOf<'reboot'>,
  context: StepContext,
  { from, ...install }: Install,
  token = '',
): Promise<RootResult> {
  const key = installKey(step.node, from);
  const before = onceInSession(key, from, context.runId);
  return sendRootScript(step, context, (_, login) => {
    const args = installArgs(install, login);
    return before + launchBody(key, { name: 'install-macos', args }, { token });
  });
}

async function startTool(step: StepOf<'reboot'>, context: StepContext, install: Install): Promise<StepResult> {
  const password = await context.passwordOf?.(step.node);
  if (password !== undefined) return launch(step, context, install, password.reveal());
  const detail = prose`There is no password for ${named(step.node)}.`;
  return failed(diagnose('upgrade/no-password', { subject: subjectOf(step), detail }));
}

/**
 * The Mac records the order before the program runs. So if this run dies in between, no run orders it again in this
 * boot session: a program that has perhaps ordered the update must not order it twice.
 */
async function orderOnce(step: StepOf<'reboot'>, context: StepContext, install: Install): Promise<StepResult> {
  const { orderUpdate } = context;
  if (orderUpdate === undefined) throw new Error('only `upgrade macos` makes this step');
  // After a lost connection, the record is sent again, because the program has not run yet.
  const booked = await launch({ ...step, class: 'job' }, context, install);
  if (booked.outcome === 'unknown') return failed(...booked.diagnostics);
  if (booked.outcome !== 'changed') return booked;
  const end = await orderUpdate(step.node);
  if (end.kind === 'ordered') return booked;
  if (end.kind === 'unknown') return notRestarted(step, `${end.why} It is unknown whether the update is ordered.`);
  const cancel = () => refuseOrder(installKey(step.node, install.from), end.why);
  const cancelled = await sendRootScript({ ...step, class: 'converge' }, context, cancel);
  const detail = prose`No update was ordered for ${named(step.node)}. ${end.why}`;
  return failed(diagnose('upgrade/command-failed', { subject: subjectOf(step), detail }), ...cancelled.diagnostics);
}

function notRestarted(step: StepOf<'reboot'>, why: string): StepResult {
  const detail = prose`${named(step.node)} has not restarted. ${why}`;
  return failed(diagnose('upgrade/not-restarted', { subject: subjectOf(step), detail }));
}
