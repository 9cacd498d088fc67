import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type JobPoll, launchBody, parseJobPoll, pollJobCommand } from '../../engine/scripts/job.ts';
import { given } from '../../model/given.ts';
import { named, prose } from '../../model/text/prose.ts';
import { printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { pause } from '../run-timing.ts';
import { deadlineOf, failed, interrupted, type StepContext, type StepOf, stepName, subjectOf } from './context.ts';
import { type RootResult, scriptProblem, sendRootScript } from './script.ts';

/** How often a job is launched at most in one run, whose process is gone each time. */
const maxLaunches = 3;
const maxBytes = 65_536;

/**
 * Launches a job, or attaches to the one that runs under its key already, and looks at it until it ends. It outlives
 * this run and its connections. Its deadline counts from the last byte that it has added.
 */
export async function runJob(step: StepOf<'job'>, context: StepContext): Promise<StepResult> {
  for (let launches = 1; launches <= maxLaunches; launches += 1) {
    const launched = await launch(step, context);
    const isElsewhere = launched.slug === 'other-launch';
    if (launched.outcome !== 'changed' && launched.outcome !== 'unchanged' && !isElsewhere) return launched;
    if (launched.said?.includes('job=done')) return { outcome: 'unchanged', diagnostics: [] };
    const followed = await follow(step, context);
    if (followed !== 'gone') return followed;
    await pause(context.timing.retryMs, context.signal);
    if (context.signal.aborted) return interrupted;
  }
  const detail = prose`${stepName(step)}: its process on ${named(step.node)} was gone ${maxLaunches} times without a result.`;
  return failed(diagnose('step/job-gone', { subject: subjectOf(step), detail }));
}

const launch = (step: StepOf<'job'>, context: StepContext): Promise<RootResult> =>
  sendRootScript(step, context, () => launchBody({ key: step.act.key, call: step.act }));

/** Looks at the job until it has ended, is gone, or does not move any more. */
async function follow(step: StepOf<'job'>, context: StepContext): Promise<StepResult | 'gone'> {
  const deadlineMs = deadlineOf(step, context);
  let movedAtMs = performance.now();
  let doneBytes = -1;
  while (!context.signal.aborted) {
    const poll = await look(step, context);
    if ('code' in poll) {
      const isHopeless = context.session(step.node).isLost() || performance.now() - movedAtMs >= deadlineMs;
      if (isHopeless) return { outcome: 'unknown', diagnostics: [poll] };
    } else {
      if (poll.state === 'ended') return ending(step, poll);
      if (poll.state !== 'running') return 'gone';
      if (poll.done !== undefined && poll.done !== doneBytes) {
        doneBytes = poll.done;
        movedAtMs = performance.now();
        context.progress({ doneBytes, ...given({ totalBytes: poll.total }) });
      }
      if (performance.now() - movedAtMs >= deadlineMs) return failed(stalled(step, poll, deadlineMs));
    }
    await pause(context.timing.jobPollMs, context.signal);
  }
  return interrupted;
}

/** One look, as the ssh user; a problem when nobody could see the job this time. */
async function look(step: StepOf<'job'>, context: StepContext): Promise<JobPoll | Diagnostic> {
  const answer = await context.session(step.node).ask((rootPrefix) => ({
    name: 'poll-job',
    command: pollJobCommand(step.act.key, rootPrefix),
    deadlineMs: context.lookMs,
    maxBytes,
  }));
  if (answer.kind === 'unreached') return answer.diagnostics[0];
  const poll = parseJobPoll(printedText(answer.result).stdout);
  if (poll) return poll;
  const detail = prose`${stepName(step)}: nobody could see how the job stands on ${named(step.node)}. It goes on by itself.`;
  return diagnose('ssh/exit-unknown', { subject: subjectOf(step), detail, hint: 'Run it again: it finds the job.' });
}

function ending(step: StepOf<'job'>, { exit, failure }: JobPoll): StepResult {
  if (exit === 0) return { outcome: 'changed', diagnostics: [] };
  return failed(
    scriptProblem(step, failure ?? { slug: 'job-failed', text: `the job ended with ${exit ?? 'no exit'}` }),
  );
}

function stalled(step: StepOf<'job'>, { done = 0, total }: JobPoll, deadlineMs: number): Diagnostic {
  const of = total === undefined ? '' : ` of ${total}`;
  const detail = prose`${stepName(step)}: ${done}${of} bytes, and not one more in ${Math.round(deadlineMs / 1_000)} s.`;
  return diagnose('step/stalled', { subject: subjectOf(step), detail });
}
