import { diagnose, type GeneralCode } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { type JobPoll, launchBody, parseJobPoll, peerPlanOf, pollJobCommand } from '../../engine/scripts/job.ts';
import { confirmBody, transactionBody } from '../../engine/scripts/transaction.ts';
import { exitCause } from '../../model/facts/daemons.ts';
import { given } from '../../model/given.ts';
import type { Exit } from '../../model/probe.ts';
import { needsToken, type Step, type StepProgress } from '../../model/step.ts';
import { blank, meshwright } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { place } from '../../node/paths/node-paths.ts';
import { gatewayLog } from '../../node/paths/own-paths.ts';
import { mutatingScript, readScriptResult, type ScriptEnd } from '../../node/root-script.ts';
import { withdrawBody } from '../../node/withdraw.ts';
import { slowedExchange } from '../../rack/artifacts/peers/cable-rate.ts';
import { curlReason } from '../../rack/records/gateways-fact.ts';
import { diagnoseSudo } from '../../remote/keys/password-login.ts';
import { diagnoseExit, printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { servingText } from '../progress/transfer-text.ts';
import { isBroken, rootScript } from '../reach/session.ts';
import { pause } from '../run-timing.ts';
import {
  deadlineOf,
  failed,
  interrupted,
  pauseToRetry,
  type StepContext,
  type StepOf,
  stepName,
  subjectOf,
} from './context.ts';
import { exchangeAccess } from './exchange-access.ts';
import { exchangeFindings } from './exchange-findings.ts';

export interface RootResult extends StepResult {
  /** Output lines before the result, such as `job=attached`. */
  readonly said?: readonly string[];
  /** The script's own name for its failure. */
  readonly slug?: string;
  /** Set if nothing reached the node. */
  readonly isUnreached?: true;
}

/** Builds the script for a node from its root prefix and the account of the SSH login. */
export type RootBody = (rootPrefix: string, login: string) => string;

/** Scripts print a few words; a longer answer is not from our scripts. */
const maxBytes = 262_144;

/**
 * Runs one script body as root under the lease's fence. If its connection breaks, it runs again if a repetition is
 * harmless. Otherwise, and after the deadline, its result is unknown until the next observation.
 */
export async function sendRootScript(step: Step, context: StepContext, body: RootBody): Promise<RootResult> {
  const name = 'name' in step.act ? step.act.name : step.act.kind;
  const limits = { name, deadlineMs: deadlineOf(step, context), maxBytes };
  const key = mayRepeat(step) ? context.newBoundary() : undefined;
  for (let attempt = 1; ; attempt += 1) {
    const lease = context.lease(step.node);
    if (lease.kind === 'none') return failed(...lease.diagnostics);
    const session = context.session(step.node);
    const script = (rootPrefix: string): string =>
      mutatingScript({
        ...signed(step, context, lease.fencingToken),
        rootPrefix,
        body: body(rootPrefix, session.user),
        ...given({ sending: key === undefined ? undefined : { key, attempt } }),
        isSettling: name === 'settle-transaction',
        isLast: name === 'withdraw-node',
      });
    const answer = await session.ask(rootScript(limits, script));
    if (answer.kind === 'unreached') return { ...failed(...answer.diagnostics), isUnreached: true };
    const isAgain = key !== undefined && isBroken(answer.result) && (await pauseToRetry(context, attempt));
    if (!isAgain) return judge(step, context, { ...printedText(answer.result), user: session.user });
  }
}

/** A repeated `job` finds the already launched process by its key. A transaction is confirmed instead. */
const mayRepeat = ({ class: of, act }: Step): boolean =>
  act.kind !== 'transaction' && (of === 'converge' || of === 'job');

/** The lease that a script runs under, and the note that the node records about it. */
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
      context.loseLease(step.node);
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
    detail: prose`${named(step.node)} rejected ${stepName(step)}: this run no longer has the lease there.`,
  });

function unknownEnd(step: Step, exit: Exit, reason: string): Diagnostic {
  const hint = 'Run the same command again: meshwright observes the node first and continues from there.';
  const known = diagnoseExit(step.node, exit);
  if (known) return { ...known, detail: prose`${stepName(step)}: ${known.detail}`, hint };
  return diagnose('ssh/exit-unknown', { subject: subjectOf(step), detail: prose`${stepName(step)}: ${reason}.`, hint });
}

/** Failures with their own code. The test of unused codes searches for `code:`. */
const coded: ReadonlyMap<string, { readonly code: GeneralCode }> = new Map([
  ['disk-full', { code: 'step/disk-full' }],
  ['wrong-digest', { code: 'step/wrong-digest' }],
  ['wrong-size', { code: 'step/wrong-digest' }],
  ['wrong-files', { code: 'model/wrong-files' }],
  ['no-full-disk-access', { code: 'step/no-full-disk-access' }],
  ['reboot-mark', { code: 'step/reboot-mark' }],
  ['rolled-back', { code: 'step/rolled-back' }],
  ['rolling-back', { code: 'step/rolled-back' }],
  ['transaction-pending', { code: 'step/transaction-pending' }],
  ['fetch-failed', { code: 'step/fetch-failed' }],
  ['fetch-refused', { code: 'step/fetch-failed' }],
  ['adopt-writing', { code: 'step/copy-in-use' }],
  ['adopt-changed', { code: 'step/copy-in-use' }],
  ['update-refused', { code: 'upgrade/password-refused' }],
]);

/** Hints that are more specific than the one for `step/failed`. */
const hints: ReadonlyMap<string, Prose> = new Map<string, Prose>(
  Object.entries({
    'fetch-refused':
      'Check the address in `source`. For a private or gated repository, accept its terms and set `secrets: { huggingface: { env: HF_TOKEN } }` to a token that may read it.',
    'being-written':
      'Wait until nothing writes to the folder. If nothing does, delete what an interrupted download has left there. Then run the command again.',
    'token-needed':
      'Run the same command again: if no other Mac has the rest then, this one downloads it with the token.',
    'no-peer': 'Run the same command again: this computer then sends what is missing. What has arrived is kept.',
    'not-arriving': 'Run the same command again: the transfer from this computer resumes.',
    'no-source': 'The source in the file is a folder on the node itself: check that this path exists there.',
    'adopt-gone':
      'The copy of the model was there a moment ago. Run the same command again: it searches the node again.',
    'no-program': prose`List the archive (tar -tf) and set the program's path in the file, or use a different archive. To undo a rollback: ${meshwright('rollback', blank('RUNTIME'), '--undo')}`,
    'unsafe-archive':
      'No file or link in the archive may point outside its own folder: pack it again from that folder, without device files.',
    'no-time':
      'The node must reach time.apple.com (UDP, port 123). Without internet access, set the clock on the Mac (sudo date) or remove system.clock from the file: meshwright does not depend on it.',
    'can-become-root':
      'Remove its sudo rules (sudo visudo, /etc/sudoers.d), its administrator rights and its write access (ls -le shows it), or name a different account in system.accounts.',
    'account-untested': prose`Run the same command again. If that does not help, find out what hangs: ${meshwright('doctor')}`,
    'account-unfit': 'Name a different account in system.accounts.ranks, or set login there if ranks may become root.',
    'daemons-unread':
      'meshwright starts nothing as an account that may be able to change programs that root runs. Find out on the Mac why that path cannot be read, or remove it from its LaunchDaemon.',
    'other-account':
      'If nothing else needs that account and group, delete both on the Mac, in a Terminal with Full Disk Access: sudo dscl . -delete /Users/NAME, then sudo dscl . -delete /Groups/NAME. Or name a different account in system.accounts.',
    'no-authrestart':
      'To restart the Mac anyway and unlock it afterwards, remove `password` from the file, and add --allow locked-reboot.',
    'disk-password':
      'Correct the password at its source in the file (`password`). `sudo fdesetup list` on the Mac shows which accounts may unlock the disk. Nothing was stopped for this restart.',
    'ended-at-once': prose`See its last log lines: ${meshwright('logs')}`,
  }),
);

/** The diagnostic for a failure that a script or job reports, with a hint. */
export function scriptProblem(
  step: Step,
  { slug, text }: { readonly slug: string; readonly text: string },
): Diagnostic {
  const detail = prose`${stepName(step)}: ${escapeText(text).trim() || 'no message'} (${slug}).`;
  const fields = { subject: subjectOf(step), detail };
  const code = coded.get(slug)?.code;
  return diagnose(code ?? 'step/failed', {
    ...fields,
    ...given({ hint: hints.get(slug) ?? hintFor(slug, step, text) }),
  });
}

/** Hints that depend on the step, or on the text. */
function hintFor(slug: string, { act, node }: Step, text: string): Prose | undefined {
  if (slug === 'reboot-mark') return prose`Restart the Mac: ${meshwright('reboot', node)}`;
  if (act.kind !== 'script') return undefined;
  // A person may also create the accounts.
  if (slug === 'no-full-disk-access' && act.name === 'make-account') {
    return `On ${node}: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users. Or create standard accounts there, each with its own group, and name them in system.accounts.`;
  }
  if (slug === 'gateway' && act.name === 'load-gateway') {
    const cure = exitCause(/; its last exit: (.+)$/.exec(text)?.[1])?.cure;
    return prose`${cure === undefined ? '' : `${cure} `}The gateway's log may have more: ${gatewayLog(act.args.port).path}.`;
  }
  // Only on the Mac can a person see which process uses the port.
  if (slug === 'not-listening' && act.name === 'load-gateway') {
    const { port } = act.args;
    return `Find the process that uses the port: ssh ${node} sudo lsof -nP -iTCP:${port} -sTCP:LISTEN. Stop it, or set a different endpoint.port. The gateway's log has more: ${gatewayLog(port).path}.`;
  }
  return undefined;
}

/**
 * Changes a node's network in two halves. The first one saves the old state, arms a rollback on the node and makes the
 * change. The second one confirms over a new connection, which proves that the node can still be reached. Without the
 * confirmation the node rolls everything back, even if this computer dies.
 */
export async function runTransaction(step: StepOf<'transaction'>, context: StepContext): Promise<StepResult> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await changeOnce(step, context);
    if (result.slug !== 'no-transaction' || !(await pauseToRetry(context, attempt))) return result;
  }
}

async function changeOnce(step: StepOf<'transaction'>, context: StepContext): Promise<RootResult> {
  const lease = context.lease(step.node);
  if (lease.kind === 'none') return failed(...lease.diagnostics);
  const about = signed(step, context, lease.fencingToken);
  const { rollbackAfterMs } = context.timing;
  const seconds = rollbackAfterMs / 1_000;
  const endMs = performance.now() + rollbackAfterMs;
  const made = await sendRootScript(step, context, () => transactionBody({ ...about, call: step.act, seconds }));
  if (made.outcome === 'unchanged' || made.isUnreached === true || neverArmed(made)) return made;
  context.progress({ text: 'changed; confirming over a new connection' });
  const confirmed = await confirm(step, context, () => confirmBody(about), endMs);
  // A failed change was rolled back or is partly done; its own message says why, whatever the second half found.
  return made.outcome === 'failed' ? made : confirmed;
}

/** No rollback is armed if the script was rejected or could not arm it. */
const neverArmed = ({ outcome, slug }: RootResult): boolean =>
  outcome === 'failed' && (slug === undefined || slug === 'not-armed' || slug === 'transaction-pending');

/**
 * Asks until the node has answered, over a new connection each time, and for one more observation time after the
 * rollback: a node that rolled back reports it.
 *
 * @param endMs when the node begins its rollback, at the earliest
 */
async function confirm(
  step: StepOf<'transaction'>,
  context: StepContext,
  body: RootBody,
  endMs: number,
): Promise<RootResult> {
  for (;;) {
    const session = context.newSession(step.node);
    const result = await sendRootScript(step, { ...context, session: () => session }, body);
    session.close();
    const isHeard = result.isUnreached !== true && result.outcome !== 'unknown';
    if (isHeard) return result.outcome === 'unchanged' ? { ...result, outcome: 'changed' } : result;
    const isLate = performance.now() > endMs + context.observeMs;
    if (isLate || context.signal.aborted) return unconfirmed(step, result);
    context.progress({ text: 'not reached since the change; the node will roll it back' });
    await pause(context.timing.retryMs, context.signal);
  }
}

const unconfirmed = (step: StepOf<'transaction'>, { diagnostics }: RootResult): RootResult => ({
  outcome: 'unknown',
  diagnostics: [
    diagnose('step/unconfirmed', {
      subject: subjectOf(step),
      detail: prose`${stepName(step)}: ${named(step.node)} could not be reached over a new connection after its network change.`,
      related: diagnostics,
    }),
  ],
});

/**
 * Runs, once, the script that removes meshwright's files from a node. It deletes the lease, too, so the run stops
 * renewing the lease and does not release it. Renewal resumes only if the script is known to have changed nothing.
 */
export async function runWithdraw(step: StepOf<'script'>, context: StepContext): Promise<StepResult> {
  const { node } = step;
  await context.onWithdraw?.(node);
  context.suspend(node);
  const result = await sendRootScript(step, context, withdrawBody);
  if (result.outcome === 'failed') await context.resume(node);
  return result;
}

const saidAt = (said: readonly string[], key: string): string | undefined =>
  said.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);

/** Requests still in flight are cut off by the stop that follows, and so may be requests that could not be counted. */
function drainWords(step: Step, placement: string, said: readonly string[]): readonly Diagnostic[] {
  const left = saidAt(said, 'left') ?? 'unknown';
  if (left === '0') return [];
  const isNumber = /^\d{1,9}$/.test(left);
  const curl = saidAt(said, 'curl');
  const why = curl === '0' ? 'its answer is not a number' : curl && curlReason(escapeText(curl));
  const detail = isNumber
    ? `${left} requests to ${placement} were still in flight when the drain time ended.`
    : prose`The gateway of ${placement} on ${named(step.node)} did not say before the drain deadline how many requests were in flight${why ? `: ${why}` : ''}.`;
  return [diagnose('mesh/cut-off', { subject: subjectOf(step), detail })];
}

/** Notes about a successful step: how a stopped rank ended, and requests that were cut off. */
export function stopWords(step: Step, said: readonly string[] = []): readonly Diagnostic[] {
  const { act } = step;
  if (act.kind !== 'script') return [];
  if (act.name === 'drain-endpoint') return drainWords(step, act.args.placement, said);
  if (act.name !== 'stop-rank') return [];
  const { placement, beforeReboot } = act.args;
  const rank = prose`The rank of ${placement} on ${named(step.node)}`;
  const sample = saidAt(said, 'sample');
  const file = sample === undefined ? '' : `; stack sample there: ${place.log.path}/${escapeText(sample)}`;
  const processes = saidAt(said, 'processes');
  if (processes !== undefined) {
    const detail = prose`${rank} does not exit even after KILL (${escapeText(processes)})${file}.`;
    return [diagnose('mesh/left-to-restart', { subject: subjectOf(step), detail })];
  }
  const ended = saidAt(said, 'ended');
  const isKilled = ended === 'killed' || sample !== undefined;
  const killed = prose`${rank} did not exit on its own and was killed${file}.`;
  const kill = isKilled ? [diagnose('mesh/killed', { subject: subjectOf(step), detail: killed })] : [];
  if (ended !== 'reboot-mark') return kill;
  const [wired = '', before = ''] = ['wired', 'baseline'].map((key) => saidAt(said, key) ?? 'unknown');
  const numbers = `${escapeText(wired)} bytes stay wired, compared with ${escapeText(before)} before any rank ran`;
  const fields = { subject: subjectOf(step), detail: prose`${rank} stopped: ${numbers}.` };
  if (beforeReboot) return [...kill, diagnose('mesh/left-to-restart', fields)];
  const hint = prose`Restart the Mac; meshwright starts nothing there until then: ${meshwright('reboot', step.node)}`;
  return [...kill, diagnose('mesh/reboot-mark', { ...fields, hint })];
}

/** Maximum launches of a job whose process keeps disappearing, per run. */
const maxLaunches = 3;
const pollMaxBytes = 65_536;

/**
 * Launches a job, or attaches to the one with its key, and polls it until it ends. The job outlives this run and its
 * connections. The deadline counts from the job's last progress; while it waits for its hours, no time counts.
 */
export async function runJob(step: StepOf<'job'>, context: StepContext): Promise<StepResult> {
  let current = step;
  for (let launches = 1; launches <= maxLaunches; launches += 1) {
    const launched = await launch(current, context);
    const isElsewhere = launched.slug === 'other-launch';
    if (launched.outcome !== 'changed' && launched.outcome !== 'unchanged' && !isElsewhere) return launched;
    const notes = launches === 1 ? [] : slowedNotes(step, launched.said);
    if (launched.said?.includes('job=done')) return { outcome: 'unchanged', diagnostics: [] };
    if (step.act.isDetached === true) return leave(step, context, launched);
    const followed = await follow(step, context);
    if (followed === 'token-needed') current = downloading(step);
    else if (followed !== 'gone') return { ...followed, diagnostics: [...notes, ...followed.diagnostics] };
    await pause(context.timing.retryMs, context.signal);
    if (context.signal.aborted) return interrupted;
  }
  const detail = prose`${stepName(step)}: its process on ${named(step.node)} disappeared ${maxLaunches} times without a result.`;
  return failed(diagnose('step/job-gone', { subject: subjectOf(step), detail }));
}

/** The plan has reported a restart before this run. */
function slowedNotes({ node, act }: StepOf<'job'>, said: readonly string[] = []): readonly Diagnostic[] {
  const rate = Number(saidAt(said, 'cable_rate') ?? '0');
  return rate > 0 && 'tree' in act.args ? [slowedExchange(node, act.args.tree.name, rate)] : [];
}

/** Polls a job once, so that one that fails immediately is reported, and leaves it running. */
async function leave(step: StepOf<'job'>, context: StepContext, { outcome }: RootResult): Promise<StepResult> {
  await pause(context.timing.jobPollMs, context.signal);
  if (context.signal.aborted) return interrupted;
  const poll = await pollOnce(step, context);
  if ('code' in poll) return { outcome: 'unknown', diagnostics: [poll] };
  return poll.state === 'ended' && poll.exit !== 0 ? ending(step, poll, context) : { outcome, diagnostics: [] };
}

async function launch(step: StepOf<'job'>, context: StepContext): Promise<RootResult> {
  const { act } = step;
  const token = needsToken(act) ? await context.token?.() : undefined;
  if (token?.kind === 'missing') return failed(token.diagnostic);
  const ssh = await exchangeAccess(peerPlanOf(act), context);
  const secrets = { peerKey: context.peerKey, ...given({ token: token?.secret.reveal(), ssh }) };
  return sendRootScript(step, context, () => launchBody(act.key, act, secrets));
}

/** True if a job without the token found no other Mac that has the rest of a model. */
const isTokenNeeded = ({ failure }: JobPoll): boolean => failure?.slug === 'token-needed';

/** The same job on a Mac that downloads the model itself, with the token, and serves it. */
function downloading(step: StepOf<'job'>): StepOf<'job'> {
  const { act } = step;
  if (act.name !== 'fetch-model' || act.args.source.kind !== 'url') return step;
  const { isWithheld: _, ...source } = act.args.source;
  const peers = act.args.peers && { ...act.args.peers, role: 'serve' as const, sources: [] };
  const args = { ...act.args, source: { ...source, secret: true as const }, ...given({ peers }) };
  return { ...step, act: { ...act, args } };
}

async function follow(step: StepOf<'job'>, context: StepContext): Promise<StepResult | 'gone' | 'token-needed'> {
  const deadlineMs = deadlineOf(step, context);
  let movedAtMs = performance.now();
  let moved = '';
  let reported = '';
  while (!context.signal.aborted) {
    const poll = await pollOnce(step, context);
    if ('code' in poll) {
      const isLostForGood = context.session(step.node).isLost() || performance.now() - movedAtMs >= deadlineMs;
      if (isLostForGood) return { outcome: 'unknown', diagnostics: [poll] };
    } else {
      const progress = progressOf(poll);
      if (progress !== undefined && JSON.stringify(progress) !== reported) {
        reported = JSON.stringify(progress);
        context.progress(progress);
      }
      if (poll.state === 'ended') return isTokenNeeded(poll) ? 'token-needed' : ending(step, poll, context);
      if (poll.state !== 'running') return 'gone';
      const now = JSON.stringify([poll.done, poll.serving]);
      if (now !== moved || poll.activity === 'waiting') {
        moved = now;
        movedAtMs = performance.now();
      }
      if (performance.now() - movedAtMs >= deadlineMs) return failed(stalled(step, poll, deadlineMs));
    }
    await pause(context.timing.jobPollMs, context.signal);
  }
  return interrupted;
}

function progressOf({ done, total, kept, activity, until, sources, serving }: JobPoll): StepProgress | undefined {
  if (done === undefined && activity !== 'serving') return undefined;
  const bytes = given({ doneBytes: done, totalBytes: total, keptBytes: kept, activity, until });
  if (activity === 'receiving') return { ...bytes, ...given({ sources }) };
  if (activity !== 'serving') return bytes;
  const { feeds = [], sentBytes } = serving ?? {};
  return { ...bytes, feeds, ...given({ sentBytes }), text: servingText(feeds) };
}

/** Polls once, as the SSH user; a diagnostic if the job could not be observed this time. */
export async function pollOnce(step: StepOf<'job'>, context: StepContext): Promise<JobPoll | Diagnostic> {
  const answer = await context.session(step.node).ask((rootPrefix) => ({
    name: 'poll-job',
    command: pollJobCommand(step.act.key, rootPrefix),
    deadlineMs: context.observeMs,
    maxBytes: pollMaxBytes,
  }));
  if (answer.kind === 'unreached') return answer.diagnostics[0];
  const poll = parseJobPoll(printedText(answer.result).stdout);
  if (poll) return poll;
  const detail = prose`${stepName(step)}: the state of the job on ${named(step.node)} is unknown. The job continues on its own.`;
  return diagnose('ssh/exit-unknown', {
    subject: subjectOf(step),
    detail,
    hint: 'Run the same command again: it finds the job.',
  });
}

export function ending(
  step: StepOf<'job'>,
  { exit, failure, note, exchange }: JobPoll,
  context: StepContext,
): StepResult {
  const findings = exchange === undefined ? [] : exchangeFindings(step.node, exchange, context.desired.thunderbolt);
  if (exit === 0) {
    // A job that only reads files has changed nothing.
    const isReading = ['rehash-model', 'list-folder', 'serve-model'].includes(step.act.name);
    const notes = note === undefined ? [] : [notAdopted(step, note)];
    return { outcome: isReading ? 'unchanged' : 'changed', diagnostics: [...notes, ...findings] };
  }
  return failed(
    scriptProblem(step, failure ?? { slug: 'job-failed', text: `the job exited with ${exit ?? 'an unknown status'}` }),
    ...findings,
  );
}

const notAdopted = (step: StepOf<'job'>, note: string): Diagnostic =>
  diagnose('step/not-adopted', { subject: subjectOf(step), detail: prose`${stepName(step)}: ${escapeText(note)}.` });

function stalled(step: StepOf<'job'>, { done = 0, total }: JobPoll, deadlineMs: number): Diagnostic {
  const of = total === undefined ? '' : ` of ${total}`;
  const detail = prose`${stepName(step)}: ${done}${of} bytes, without progress for ${Math.round(deadlineMs / 1_000)} s.`;
  return diagnose('step/stalled', { subject: subjectOf(step), detail });
}
