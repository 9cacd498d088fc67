import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { namedSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import {
  appendCommand,
  otherSizeExit,
  parseDigest,
  parseSize,
  prefixDigestCommand,
  stagedSizeCommand,
} from '../../node/node-bytes.ts';
import { saysDiskFull } from '../../node/root-script.ts';
import { diagnoseExit, printedText } from '../../remote/remote.ts';
import type { StepResult } from '../execute.ts';
import { deadlineOf, failed, interrupted, pauseToRetry, type StepContext, type StepOf, subjectOf } from './context.ts';
import { scriptProblem } from './script.ts';

const maxBytes = 16_384;
/** A safe lower bound: a Mac's disk and SHA instructions are ten times as fast. */
const digestBytesPerMs = 50_000;
const progressMs = 250;

/** A running transfer. */
interface Transfer {
  readonly step: StepOf<'send'>;
  readonly context: StepContext;
  readonly source: Awaited<ReturnType<typeof openSource>>;
  /** The error that stopped reading the file. */
  broken?: FleetError;
}

/** The result of one attempt; `again` if the connection broke. */
interface Tried {
  readonly kind: 'ended' | 'again';
  readonly result: StepResult;
}

const ended = (result: StepResult): Tried => ({ kind: 'ended', result });

/**
 * Sends a file from the controller to a node as the SSH user. Resumes after an existing part with the right SHA-256,
 * and checks the whole file at the end. Does not publish the file.
 */
export async function runSend(step: StepOf<'send'>, context: StepContext): Promise<StepResult> {
  const source = await openSource(step.act.source);
  try {
    if (source.sizeBytes !== step.act.sizeBytes) return failed(sourceChanged(step, `${source.sizeBytes} bytes`));
    const transfer: Transfer = { step, context, source };
    for (let attempts = 1; ; attempts += 1) {
      const { kind, result } = await attempt(transfer);
      if (kind === 'again' && (await pauseToRetry(context, attempts))) continue;
      return context.signal.aborted ? interrupted : result;
    }
  } finally {
    await source.close();
  }
}

async function attempt(transfer: Transfer): Promise<Tried> {
  const { step, context } = transfer;
  const { to, sizeBytes, sha256 } = step.act;
  const staged = await measure(transfer, (rootPrefix) => stagedSizeCommand(to, rootPrefix), parseSize);
  if (staged.kind === 'other') return staged.tried;
  const offset = await agreedPrefix(transfer, staged.value);
  if (typeof offset !== 'number') return offset;
  if (context.signal.aborted) return ended(interrupted);
  const isWhole = sizeBytes > 0 && offset === sizeBytes;
  const appended = isWhole ? undefined : await append(transfer, offset);
  if (appended) return appended;
  const whole = await digestOnNode(transfer, sizeBytes);
  if (whole.kind === 'other') return whole.tried;
  if (whole.value === sha256) return ended({ outcome: isWhole ? 'unchanged' : 'changed', diagnostics: [] });
  const ours = await transfer.source.digest(sizeBytes, context.signal);
  if (ours !== sha256) return ended(failed(sourceChanged(step, `SHA-256 ${ours}`)));
  return ended(
    failed(
      scriptProblem(step, {
        slug: 'wrong-digest',
        text: `SHA-256 on ${step.node} is ${whole.value} after the transfer`,
      }),
    ),
  );
}

/** The size of the staged part if it is a prefix of the file, otherwise 0. */
async function agreedPrefix(transfer: Transfer, stagedBytes: number): Promise<number | Tried> {
  const { source, context, step } = transfer;
  if (stagedBytes === 0 || stagedBytes > step.act.sizeBytes) return 0;
  const theirs = await digestOnNode(transfer, stagedBytes);
  if (theirs.kind === 'other') return theirs.tried;
  return theirs.value === (await source.digest(stagedBytes, context.signal)) ? stagedBytes : 0;
}

/** Appends from the offset; undefined if the whole file arrived. */
async function append(transfer: Transfer, offset: number): Promise<Tried | undefined> {
  const { step, context } = transfer;
  const { to, sizeBytes } = step.act;
  const answer = await context.session(step.node).ask((rootPrefix) => ({
    name: 'send',
    command: appendCommand(to, offset, rootPrefix),
    deadlineMs: deadlineOf(step, context),
    isDeadlineIdle: true,
    maxBytes,
    stdin: told(transfer, offset),
  }));
  if (transfer.broken) throw transfer.broken;
  if (answer.kind === 'unreached') return ended(failed(...answer.diagnostics));
  const { exit, stdout, stderr } = printedText(answer.result);
  if (exit.kind === 'unknown') return { kind: 'again', result: lost(step, diagnoseExit(step.node, exit)) };
  if (exit.kind === 'exited' && exit.code === otherSizeExit) return { kind: 'again', result: lost(step, undefined) };
  const size = parseSize(stdout);
  if (isSuccess(exit) && size === sizeBytes) return undefined;
  if (context.signal.aborted) return ended(interrupted);
  const said = stderr.trim();
  const slug = saysDiskFull(said) ? 'disk-full' : 'not-sent';
  return ended(
    failed(scriptProblem(step, { slug, text: said || `${exitText(exit)}, ${size ?? 'unknown'} bytes are there` })),
  );
}

/** The pieces from an offset; reports progress at intervals. */
async function* told(transfer: Transfer, offset: number): AsyncGenerator<Uint8Array> {
  const { source, step, context } = transfer;
  let doneBytes = offset;
  let toldAtMs = 0;
  try {
    for await (const piece of source.from(offset, context.signal)) {
      yield piece;
      doneBytes += piece.length;
      const nowMs = performance.now();
      if (nowMs - toldAtMs < progressMs) continue;
      toldAtMs = nowMs;
      context.progress({ doneBytes, totalBytes: step.act.sizeBytes });
    }
  } catch (error) {
    if (error instanceof FleetError) transfer.broken = error;
    throw error;
  }
}

type Measured<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'other'; readonly tried: Tried };

const digestOnNode = (transfer: Transfer, bytes: number): Promise<Measured<string>> =>
  measure(transfer, (rootPrefix) => prefixDigestCommand(transfer.step.act.to, bytes, rootPrefix), parseDigest, bytes);

async function measure<T>(
  { step, context }: Transfer,
  command: (rootPrefix: string) => string,
  parse: (stdout: string) => T | undefined,
  bytes = 0,
): Promise<Measured<T>> {
  const deadlineMs = context.lookMs + bytes / digestBytesPerMs;
  const limits = { name: 'measure', deadlineMs, maxBytes };
  const answer = await context.session(step.node).ask((rootPrefix) => ({ ...limits, command: command(rootPrefix) }));
  if (answer.kind === 'unreached') return { kind: 'other', tried: ended(failed(...answer.diagnostics)) };
  const { exit, stdout, stderr } = printedText(answer.result);
  const value = isSuccess(exit) ? parse(stdout) : undefined;
  if (value !== undefined) return { kind: 'value', value };
  if (exit.kind === 'unknown') {
    return { kind: 'other', tried: { kind: 'again', result: lost(step, diagnoseExit(step.node, exit)) } };
  }
  const text = stderr.trim() || exitText(exit);
  return { kind: 'other', tried: ended(failed(scriptProblem(step, { slug: 'not-measured', text }))) };
}

/** The received part stays on the node, so only time is lost. */
function lost(step: StepOf<'send'>, problem: Diagnostic | undefined): StepResult {
  const detail = prose`${step.act.source} did not arrive completely on ${named(step.node)}: another transfer wrote to the same file.`;
  const known = problem ?? diagnose('ssh/exit-unknown', { subject: subjectOf(step), detail });
  return { outcome: 'unknown', diagnostics: [{ ...known, hint: 'Run the same command again: the transfer resumes.' }] };
}

const sourceChanged = (step: StepOf<'send'>, found: string): Diagnostic =>
  diagnose('send/source-changed', {
    subject: namedSubject(step.act.source),
    detail: `${step.act.source} has ${found}; the lock has ${step.act.sizeBytes} bytes, SHA-256 ${step.act.sha256}.`,
  });

/** Smaller pieces make hashing slower. */
const pieceBytes = 1024 * 1024;

/** A file on the controller to send to nodes. All its functions throw FleetError `send/source-unreadable`. */
async function openSource(path: string) {
  const refuse = (error: unknown): never => {
    throw unreadable(path, error);
  };
  const file = await open(path, 'r').catch(refuse);
  const { size: sizeBytes } = await file.stat();
  /** The bytes from an offset to the end, or until the signal aborts. */
  async function* from(offset: number, signal: AbortSignal, end = sizeBytes): AsyncGenerator<Uint8Array> {
    for (let at = offset; at < end && !signal.aborted; ) {
      const length = Math.min(pieceBytes, end - at);
      // A new buffer for every read, because earlier ones may still be in transit.
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at).catch(refuse);
      if (bytesRead === 0) refuse(new Error('it became shorter'));
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return {
    sizeBytes,
    from,
    /** The SHA-256 of the first `bytes` bytes. */
    digest: async (bytes: number, signal: AbortSignal): Promise<string> => {
      const hash = createHash('sha256');
      for await (const piece of from(0, signal, bytes)) hash.update(piece);
      return hash.digest('hex');
    },
    close: () => file.close(),
  };
}

function unreadable(path: string, error: unknown): FleetError {
  const why = error instanceof Error ? error.message : String(error);
  const problem = diagnose('send/source-unreadable', {
    subject: namedSubject(path),
    detail: `${path} cannot be read: ${why}.`,
  });
  return new FleetError([problem], { cause: error });
}
