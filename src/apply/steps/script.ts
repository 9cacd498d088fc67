import { type DiagnosticCode, diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { type JobPoll, launchBody, parseJobPoll, pollJobCommand } from '../../engine/scripts/job.ts';
import { scriptBody } from '../../engine/scripts/registry.ts';
import { confirmBody, transactionBody } from '../../engine/scripts/transaction.ts';
import { given } from '../../model/given.ts';
import type { Exit } from '../../model/probe.ts';
import type { Step } from '../../model/step.ts';
import { blank, meshwright } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { place } from '../../node/paths/node-paths.ts';
import { doormanLog } from '../../node/paths/own-paths.ts';
import { mutatingScript, readScriptResult, type ScriptEnd, type Sending } from '../../node/root-script.ts';
import { withdrawBody } from '../../node/withdraw.ts';
import { diagnoseSudo } from '../../remote/keys/password-login.ts';
import { diagnoseExit, printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { askRoot } from '../reach/session.ts';
import { pause } from '../run-timing.ts';
import {
  deadlineOf,
  failed,
  interrupted,
  type StepContext,
  type StepOf,
  type StepRunner,
  stepName,
  subjectOf,
  tryAgain,
} from './context.ts';

/** How a script of root came out, with what it said on the way. */
interface RootResult extends StepResult {
  /** Lines before its verdict, such as `job=attached`. */
  readonly said?: readonly string[];
  /** How the script itself named its failure. */
  readonly slug?: string;
  /** Set when nothing came to the node. */
  readonly isUnreached?: true;
}

/** The lines of a script for a node: under this prefix, with this account as the one that has logged in there. */
type RootBody = (rootPrefix: string, login: string) => string;

/** Scripts print a few words; what is longer is no answer of ours. */
const maxBytes = 262_144;

/**
 * Runs one body as root under the fence of the lease. What broke off is run again only when its class says that a
 * repetition does no harm; otherwise, and after a deadline, its end is unknown and the next observation tells.
 */
export async function sendRootScript(step: Step, context: StepContext, body: RootBody): Promise<RootResult> {
  const key = context.newToken();
  return await tryAgain(
    context,
    (attempt) => sendOnce(step, context, body, { key, attempt }),
    (result) => mayRepeat(step, result),
  );
}

/** A `job` is found by its key when it was launched already. */
const mayRepeat = (step: Step, { outcome, diagnostics }: StepResult): boolean =>
  (step.class === 'converge' || step.class === 'job') &&
  outcome === 'unknown' &&
  diagnostics.some(({ code }) => code === 'ssh/dropped');

/** Runs one body as {@link sendRootScript} does, and never again by itself. */
async function sendOnce(step: Step, context: StepContext, body: RootBody, sending?: Sending): Promise<RootResult> {
  const hold = context.hold(step.node);
  if (hold.kind === 'none') return failed(...hold.diagnostics);
  const session = context.session(step.node);
  const name = 'name' in step.act ? step.act.name : step.act.kind;
  const limits = { name, deadlineMs: deadlineOf(step, context), maxBytes };
  const answer = await askRoot(session, limits, (rootPrefix) =>
    mutatingScript({
      ...signed(step, context, hold.token),
      rootPrefix,
      body: body(rootPrefix, session.user),
      ...given({ sending }),
      isSettling: step.act.kind === 'script' && name === 'settle-rollback',
      isLast: step.act.kind === 'script' && name === 'withdraw-node',
    }),
  );
  if (answer.kind === 'unreached') return { ...failed(...answer.diagnostics), isUnreached: true };
  return judge(step, context, { ...printedText(answer.result), user: session.user });
}

/** Under which lease a script runs, and what the node writes down of it. */
const signed = ({ id: step }: Step, { runId: run, verb, by, config }: StepContext, token: number) => ({
  fence: { run, token },
  note: { step, verb, by, config },
});

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

/** Failures with a code of their own; `code:` is what the test of unused codes looks for. */
const coded: ReadonlyMap<string, { readonly code: DiagnosticCode }> = new Map([
  ['disk-full', { code: 'step/disk-full' }],
  ['wrong-digest', { code: 'step/wrong-digest' }],
  ['no-full-disk-access', { code: 'step/no-full-disk-access' }],
  ['needs-reboot', { code: 'step/needs-reboot' }],
  ['rolled-back', { code: 'step/rolled-back' }],
  ['rolling-back', { code: 'step/rolled-back' }],
  ['rollback-pending', { code: 'step/rollback-pending' }],
  ['fetch-failed', { code: 'step/fetch-failed' }],
]);

/** Hints that know more than that of `step/failed`. */
const hints: ReadonlyMap<string, Prose> = new Map<string, Prose>(
  Object.entries({
    'no-source': 'The source in the file names a folder of the node itself: see whether it is there under this path.',
    'no-program': prose`See what is in the archive (tar -tf), and set the path of the program in the file, or use another archive. A rollback is undone by: ${meshwright('rollback', blank('RUNTIME'), '--undo')}`,
    'unsafe-archive':
      'Nothing of an archive may lie or lead outside of its own folder: pack it again from inside that folder, without devices.',
    'no-time':
      'The node must reach time.apple.com (UDP, port 123). In a rack without the internet set its clock at the Mac (sudo date), or leave system.clock out of the file: nothing that meshwright does depends on it.',
    'can-become-root':
      'Take its rules out of sudo (sudo visudo, /etc/sudoers.d), the account out of the administrators, and its write access away (ls -le shows it), or name another account in system.accounts.',
    'account-untested': prose`Run the same command again. If that does not help, see what hangs: ${meshwright('doctor')}`,
    'account-unfit':
      'Name another account in system.accounts.ranks, or set login there if you accept that ranks can become root.',
    'daemons-unread':
      'Nothing starts as an account while it is unknown whether that account can change what root runs. See on the Mac why that path cannot be read, or take it out of its LaunchDaemon.',
    'other-account':
      'If nothing else needs that account and that group, delete both at the Mac, in a Terminal with Full Disk Access: sudo dscl . -delete /Users/NAME, then sudo dscl . -delete /Groups/NAME. Or name another account in system.accounts.',
    'ended-at-once': prose`See what it said before it ended: ${meshwright('logs')}`,
  }),
);

/** A failure that a script or a job names itself, with what can be done about it. */
export function scriptProblem(
  step: Step,
  { slug, text }: { readonly slug: string; readonly text: string },
): Diagnostic {
  const detail = prose`${stepName(step)}: ${escapeText(text).trim() || 'without a word'} (${slug}).`;
  const fields = { subject: subjectOf(step), detail };
  const code = coded.get(slug)?.code;
  return diagnose(code ?? 'step/failed', { ...fields, ...given({ hint: hints.get(slug) ?? hintFor(slug, step) }) });
}

/** What depends on the step. */
function hintFor(slug: string, { act, node }: Step): Prose | undefined {
  if (slug === 'needs-reboot') return prose`Restart the Mac: ${meshwright('reboot', node)}`;
  if (act.kind !== 'script') return undefined;
  // A person may make the accounts as well.
  if (slug === 'no-full-disk-access' && act.name === 'make-account') {
    return `On ${node}: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users. Or make standard accounts there, each with a group of its own, and name them in system.accounts.`;
  }
  // Only at the Mac can a person see who has the port.
  if (slug === 'not-listening' && act.name === 'load-doorman') {
    const { port } = act.args;
    return `See who listens there: ssh ${node} sudo lsof -nP -iTCP:${port} -sTCP:LISTEN. End it, or give endpoint.port another number. The doorman says more in ${doormanLog(port).path}.`;
  }
  return undefined;
}

/**
 * Changes the network of a node in two halves. The first saves, arms a rollback on the node and changes; the second
 * confirms, over a connection that was made after the change: only that proves that the node can still be reached.
 * Without it the node puts everything back, whatever becomes of this computer.
 */
export async function runTransaction(step: StepOf<'transaction'>, context: StepContext): Promise<StepResult> {
  return await tryAgain(
    context,
    () => changeOnce(step, context),
    ({ slug }) => slug === 'no-transaction',
  );
}

async function changeOnce(step: StepOf<'transaction'>, context: StepContext): Promise<RootResult> {
  const hold = context.hold(step.node);
  if (hold.kind === 'none') return failed(...hold.diagnostics);
  const about = signed(step, context, hold.token);
  const { rollbackAfterMs } = context.timing;
  const seconds = rollbackAfterMs / 1_000;
  const endMs = performance.now() + rollbackAfterMs;
  const made = await sendOnce(step, context, () => transactionBody({ ...about, call: step.act, seconds }));
  if (made.outcome === 'unchanged' || made.isUnreached === true || neverArmed(made)) return made;
  context.progress({ text: 'made, and now confirmed over a new connection' });
  const confirmed = await confirm(step, context, () => confirmBody(about), endMs);
  // What failed was put back at once, or stands in part: its own words say why, whatever the second half found.
  return made.outcome === 'failed' ? made : confirmed;
}

/** Nothing is armed where the script was turned away, or where it could not even arm. */
const neverArmed = ({ outcome, slug }: RootResult): boolean =>
  outcome === 'failed' && (slug === undefined || slug === 'not-armed' || slug === 'rollback-pending');

/**
 * Asks until the node has answered, over a new connection each time. After the time of the rollback it is still asked
 * for as long as a look may take: a node that has put itself back says so.
 *
 * @param endMs when the node begins to put everything back, at the earliest
 */
async function confirm(
  step: StepOf<'transaction'>,
  context: StepContext,
  body: RootBody,
  endMs: number,
): Promise<RootResult> {
  for (;;) {
    const session = context.newSession(step.node);
    const result = await sendOnce(step, { ...context, session: () => session }, body);
    session.close();
    const isHeard = result.isUnreached !== true && result.outcome !== 'unknown';
    if (isHeard) return result.outcome === 'unchanged' ? { ...result, outcome: 'changed' } : result;
    const isLate = performance.now() > endMs + context.lookMs;
    if (isLate || context.signal.aborted) return unconfirmed(step, result);
    context.progress({ text: 'not reached since the change; it takes the change back by itself' });
    await pause(context.timing.retryMs, context.signal);
  }
}

const unconfirmed = (step: StepOf<'transaction'>, { diagnostics }: RootResult): RootResult => ({
  outcome: 'unknown',
  diagnostics: [
    diagnose('step/unconfirmed', {
      subject: subjectOf(step),
      detail: prose`${stepName(step)}: ${named(step.node)} was not reached over a new connection after its network was changed.`,
      related: diagnostics,
    }),
  ],
});

/** Runs a named script as root. */
export const runScript: StepRunner<'script'> = (step, context) =>
  step.act.name === 'withdraw-node' ? runWithdraw(step, context) : send(step, context);

async function send(step: StepOf<'script'>, context: StepContext): Promise<StepResult> {
  const { said = [], outcome, diagnostics } = await sendRootScript(step, context, () => scriptBody(step.act));
  return { outcome, diagnostics: [...diagnostics, ...stopWords(step, said)] };
}

/**
 * Runs the last script of all on a node, once: it takes the lease away with everything else, so that the lease is not
 * renewed from here on, and nobody gives it back. Only a script that is known to have changed nothing brings that back.
 */
async function runWithdraw(step: StepOf<'script'>, context: StepContext): Promise<StepResult> {
  const { node } = step;
  await context.onWithdraw?.(node);
  context.suspend(node);
  const result = await sendOnce(step, context, withdrawBody);
  if (result.outcome === 'failed') await context.resume(node);
  return result;
}

const saidAt = (said: readonly string[], key: string): string | undefined =>
  said.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);

/** Whoever is left inside loses its answer by the stop that follows; so may somebody who could not be counted. */
function drainWords(step: StepOf<'script'>, placement: string, left = 'unknown'): readonly Diagnostic[] {
  if (left === '0') return [];
  const isNumber = /^\d{1,9}$/.test(left);
  const detail = isNumber
    ? `${left} requests to ${placement} are still inside when the time to finish is over.`
    : prose`The doorman of ${placement} on ${named(step.node)} did not say how many requests are inside until the time was over.`;
  return [diagnose('mesh/cut-off', { subject: subjectOf(step), detail })];
}

/** What a person should know of a step that went well: how a rank ended that it has stopped. */
export function stopWords(step: StepOf<'script'>, said: readonly string[]): readonly Diagnostic[] {
  if (step.act.name === 'drain-door') return drainWords(step, step.act.args.placement, saidAt(said, 'left'));
  if (step.act.name !== 'stop-rank') return [];
  const { placement, beforeReboot } = step.act.args;
  const rank = prose`The rank of ${placement} on ${named(step.node)}`;
  const sample = saidAt(said, 'sample');
  const file = sample === undefined ? '' : `; its stack before that: ${place.log.path}/${escapeText(sample)} there`;
  const processes = saidAt(said, 'processes');
  if (processes !== undefined) {
    const detail = prose`${rank} does not end, not even by KILL (${escapeText(processes)})${file}.`;
    return [diagnose('mesh/left-to-restart', { subject: subjectOf(step), detail })];
  }
  const ended = saidAt(said, 'ended');
  const isKilled = ended === 'killed' || sample !== undefined;
  const killed = prose`${rank} did not end by itself and was killed${file}.`;
  const kill = isKilled ? [diagnose('mesh/killed', { subject: subjectOf(step), detail: killed })] : [];
  if (ended !== 'needs-reboot') return kill;
  const [wired = '', before = ''] = ['wired', 'baseline'].map((key) => saidAt(said, key) ?? 'unknown');
  const numbers = `${escapeText(wired)} bytes stay wired, ${escapeText(before)} were before any rank ran`;
  const fields = { subject: subjectOf(step), detail: prose`${rank} has ended: ${numbers}.` };
  if (beforeReboot) return [...kill, diagnose('mesh/left-to-restart', fields)];
  const hint = prose`Restart it; nothing is started there until then: ${meshwright('reboot', step.node)}`;
  return [...kill, diagnose('mesh/needs-reboot', { ...fields, hint })];
}

/** How often a job is launched at most in one run, whose process is gone each time. */
const maxLaunches = 3;
const pollMaxBytes = 65_536;

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

/** One look, as the ssh user; a problem when the job could not be observed this time. */
async function look(step: StepOf<'job'>, context: StepContext): Promise<JobPoll | Diagnostic> {
  const answer = await context.session(step.node).ask((rootPrefix) => ({
    name: 'poll-job',
    command: pollJobCommand(step.act.key, rootPrefix),
    deadlineMs: context.lookMs,
    maxBytes: pollMaxBytes,
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
