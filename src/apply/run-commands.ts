import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { plainText } from '../diagnostics/prose-text.ts';
import type { NodeCommand } from '../engine/playbooks/expand.ts';
import type { NodeName } from '../model/node.ts';
import { exitText, isSuccess } from '../model/probe.ts';
import { nodeSubject } from '../model/subject.ts';
import { labelled, named, prose } from '../model/text/prose.ts';
import { quote } from '../node/quote.ts';
import { forEachLimited } from '../remote/limit-parallel.ts';
import { onAbort } from '../remote/on-abort.ts';
import { printedText } from '../remote/remote.ts';
import { leaseHeld } from './lease/take-lease.ts';
import { isInterrupted, type Parts, record, sessionOf } from './run-parts.ts';
import type { LeaseRefusal } from './run-report.ts';

/** How the user's own commands came out. */
export interface CommandReport {
  readonly refusals: readonly LeaseRefusal[];
  /** Nodes on which the command is not known to have ended well, by name. */
  readonly failed: readonly NodeName[];
  /** Nodes on which there was nothing to do. */
  readonly spared: readonly NodeName[];
  readonly isInterrupted: boolean;
  readonly isLeaseLost: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** Of both streams together; what a command prints is only looked at when it fails. */
const maxBytes = 1_048_576;
const shownCharacters = 300;

type Ran = 'done' | 'spared' | Diagnostic;

/** Runs commands of a playbook, one per node, at most `parallel` at once. */
export async function runCommands(
  commands: readonly NodeCommand[],
  deadlineMs: number,
  parts: Parts,
): Promise<CommandReport> {
  const taken = await parts.keeper.take(commands.map(({ node }) => node));
  const ran = new Map<NodeName, Ran>();
  if (taken.kind === 'taken') {
    await forEachLimited(commands, parts.options.parallel, async (command) => {
      const isOver = isInterrupted(parts) || parts.keeper.lost.aborted || parts.halted.signal.aborted;
      if (!isOver) ran.set(command.node, await runOne(command, deadlineMs, parts));
    });
  }
  const refusals = taken.kind === 'refused' ? taken.refusals : [];
  const problems = [...ran.values()].flatMap((one) => (typeof one === 'string' ? [] : [one]));
  const nodes = commands.map(({ node }) => node).sort();
  return {
    refusals,
    failed: nodes.filter((node) => ran.get(node) !== 'done' && ran.get(node) !== 'spared'),
    spared: nodes.filter((node) => ran.get(node) === 'spared'),
    isInterrupted: isInterrupted(parts),
    isLeaseLost: parts.keeper.lost.aborted,
    diagnostics: [
      ...parts.problems.splice(0),
      ...refusals.map(({ node, holder }) => leaseHeld(node, holder)),
      ...problems,
    ],
  };
}

async function runOne({ node, command, unless }: NodeCommand, deadlineMs: number, parts: Parts): Promise<Ran> {
  const hold = parts.keeper.hold(node);
  if (hold.kind === 'none') return hold.diagnostics[0];
  if (unless !== undefined) {
    const checked = await send(node, unless, deadlineMs, parts);
    if (checked === 'done') return 'spared';
    if (checked.isUnknown) return checked.problem;
  }
  const step = `${node}/run`;
  const about = { act: 'run', class: 'once', effect: 'none', changes: [] } as const;
  if (!record(parts, { phase: 'intent', step, node, ...about })) return notWritten(node);
  const startedAtMs = performance.now();
  const sent = await send(node, command, deadlineMs, parts);
  record(parts, {
    phase: 'outcome',
    step,
    node,
    outcome: sent === 'done' ? 'changed' : sent.isUnknown ? 'unknown' : 'failed',
    ms: Math.round(performance.now() - startedAtMs),
    problems: sent === 'done' ? [] : [{ code: sent.problem.code, detail: plainText(sent.problem.detail) }],
  });
  return sent === 'done' ? 'done' : sent.problem;
}

async function send(
  node: NodeName,
  words: readonly string[],
  deadlineMs: number,
  parts: Parts,
): Promise<'done' | { readonly isUnknown: boolean; readonly problem: Diagnostic }> {
  const command = words.map(quote).join(' ');
  const startedAtMs = performance.now();
  const asked = sessionOf(parts, node).ask(() => ({ name: 'run', command, deadlineMs, maxBytes }));
  const answer = await untilInterrupted(asked, parts.options);
  if (answer === 'given-up') return { isUnknown: true, problem: notAwaited(node, words) };
  if (answer.kind === 'unreached') return { isUnknown: true, problem: answer.diagnostics[0] };
  const { exit, stdout, stderr } = printedText(answer.result);
  if (isSuccess(exit)) return 'done';
  const said = escapeText((stderr || stdout || 'without a word').trim().slice(0, shownCharacters));
  const problem = diagnose('task/command-failed', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${words.join(' ')}: ${exitText(exit)}: ${said}`,
    command: { argv: words, exit, durationMs: Math.round(performance.now() - startedAtMs), stdout, stderr },
  });
  return { isUnknown: exit.kind === 'unknown', problem };
}

/** After an interrupt a command has a moment to end; nobody waits for its whole deadline. */
async function untilInterrupted<T>(asked: Promise<T>, { signal, timing }: Parts['options']): Promise<T | 'given-up'> {
  let forget = (): void => undefined;
  const givenUp = new Promise<'given-up'>((resolve) => {
    forget = onAbort(signal, () => void setTimeout(() => resolve('given-up'), timing.interruptMs).unref());
  });
  return Promise.race([asked, givenUp]).finally(forget);
}

const notAwaited = (node: NodeName, words: readonly string[]): Diagnostic =>
  diagnose('task/command-failed', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${words.join(' ')}: it had not ended when this run was interrupted; it may still run there.`,
  });

const notWritten = (node: NodeName): Diagnostic =>
  diagnose('journal/cannot-write', {
    subject: nodeSubject(node),
    detail: prose`The command for ${named(node)} was not sent: it could not be written down first.`,
  });
