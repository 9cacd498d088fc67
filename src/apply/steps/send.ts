import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, messageOf } from '../../diagnostics/diagnostic.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { namedSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import {
  type AppendStart,
  appendCommand,
  otherSizeExit,
  parseSent,
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

/** Sends a file as the SSH user, after an existing part with the right SHA-256. Checks it all, publishes nothing. */
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
  const found = await sendOrMeasure(transfer);
  if (typeof found !== 'number') return found;
  const offset = await agreedPrefix(transfer, found);
  if (typeof offset !== 'number') return offset;
  if (transfer.context.signal.aborted) return ended(interrupted);
  const rest = await append(transfer, { offset, replaces: offset === 0 });
  return typeof rest === 'number' ? { kind: 'again', result: lost(transfer.step, undefined) } : rest;
}

/** The size of the part on the node. The first command already sends a small file, unless a part of it exists. */
async function sendOrMeasure(transfer: Transfer): Promise<number | Tried> {
  if (transfer.step.act.sizeBytes <= pieceBytes) return await append(transfer, { offset: 0 });
  const { size, tried } = await measure(transfer, (rootPrefix) => stagedSizeCommand(transfer.step.act.to, rootPrefix));
  return size ?? tried;
}

/** The size of the part on the node if the file begins with it, otherwise 0. Ends the attempt if the part is the file. */
async function agreedPrefix(transfer: Transfer, partBytes: number): Promise<number | Tried> {
  const { step, context, source } = transfer;
  if (partBytes === 0 || partBytes > step.act.sizeBytes) return 0;
  const { sha256, tried } = await digestOnNode(transfer, partBytes, { keptBytes: partBytes });
  if (sha256 === undefined) return tried;
  if (sha256 !== (await source.digest(partBytes, context.signal))) return 0;
  return partBytes === step.act.sizeBytes ? await checkWhole(transfer, sha256, 'unchanged') : partBytes;
}

/** Compares the digest on the node with the lock. */
async function checkWhole(
  { step, context, source }: Transfer,
  theirs: string,
  outcome: 'changed' | 'unchanged',
): Promise<Tried> {
  const { sizeBytes, sha256 } = step.act;
  if (theirs === sha256) return ended({ outcome, diagnostics: [] });
  const ours = await source.digest(sizeBytes, context.signal);
  if (ours !== sha256) return ended(failed(sourceChanged(step, `SHA-256 ${ours}`)));
  const text = `SHA-256 on ${step.node} is ${theirs} after the transfer`;
  return ended(failed(scriptProblem(step, { slug: 'wrong-digest', text })));
}

/** Sends the rest of the file and checks the whole; a number if the node has a part of this other size, in bytes. */
async function append(transfer: Transfer, start: AppendStart): Promise<number | Tried> {
  const { step, context } = transfer;
  const { to, sizeBytes } = step.act;
  const digests = sizeBytes <= pieceBytes;
  const answer = await context.session(step.node).ask((rootPrefix) => ({
    name: 'send',
    command: appendCommand(to, { ...start, digests }, rootPrefix),
    deadlineMs: deadlineOf(step, context),
    isDeadlineIdle: true,
    maxBytes,
    stdin: pieces(transfer, start.offset),
  }));
  if (transfer.broken) throw transfer.broken;
  if (answer.kind === 'unreached') return ended(failed(...answer.diagnostics));
  const { exit, stdout, stderr } = printedText(answer.result);
  if (exit.kind === 'unknown') return { kind: 'again', result: lost(step, diagnoseExit(step.node, exit)) };
  const { size, sha256 } = parseSent(stdout);
  if (exit.kind === 'exited' && exit.code === otherSizeExit && size !== undefined) return size;
  if (isSuccess(exit) && size === sizeBytes) {
    if (sha256 !== undefined) return await checkWhole(transfer, sha256, 'changed');
    const whole = await digestOnNode(transfer, sizeBytes);
    return whole.sha256 === undefined ? whole.tried : await checkWhole(transfer, whole.sha256, 'changed');
  }
  if (context.signal.aborted) return ended(interrupted);
  const said = stderr.trim();
  const slug = saysDiskFull(said) ? 'disk-full' : 'not-sent';
  const text = said || `${exitText(exit)}, ${size ?? 'unknown'} bytes are there`;
  return ended(failed(scriptProblem(step, { slug, text })));
}

/** The pieces from an offset; reports progress at intervals. */
async function* pieces(transfer: Transfer, offset: number): AsyncGenerator<Uint8Array> {
  const { source, step, context } = transfer;
  const sent = { totalBytes: step.act.sizeBytes, keptBytes: offset };
  let doneBytes = offset;
  let reportedAtMs = 0;
  if (offset > 0) context.progress({ ...sent, doneBytes });
  try {
    for await (const piece of source.from(offset, context.signal)) {
      yield piece;
      doneBytes += piece.length;
      const nowMs = performance.now();
      if (nowMs - reportedAtMs < progressMs) continue;
      reportedAtMs = nowMs;
      context.progress({ ...sent, doneBytes });
    }
  } catch (error) {
    if (error instanceof FleetError) transfer.broken = error;
    throw error;
  }
}

function digestOnNode(transfer: Transfer, bytes: number, extra: { readonly keptBytes?: number } = {}) {
  const { step, context } = transfer;
  context.progress({ doneBytes: bytes, totalBytes: step.act.sizeBytes, ...extra, activity: 'comparing' });
  return measure(transfer, (rootPrefix) => prefixDigestCommand(step.act.to, bytes, rootPrefix), bytes);
}

/** What a command printed; `tried` is the result of the attempt if it printed none of it. */
async function measure({ step, context }: Transfer, command: (rootPrefix: string) => string, bytes = 0) {
  const deadlineMs = context.observeMs + bytes / digestBytesPerMs;
  const limits = { name: 'measure', deadlineMs, maxBytes };
  const answer = await context.session(step.node).ask((rootPrefix) => ({ ...limits, command: command(rootPrefix) }));
  if (answer.kind === 'unreached') return { tried: ended(failed(...answer.diagnostics)) };
  const { exit, stdout, stderr } = printedText(answer.result);
  const text = stderr.trim() || exitText(exit);
  const tried: Tried =
    exit.kind === 'unknown'
      ? { kind: 'again', result: lost(step, diagnoseExit(step.node, exit)) }
      : ended(failed(scriptProblem(step, { slug: 'not-measured', text })));
  return { ...(isSuccess(exit) ? parseSent(stdout) : {}), tried };
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
  const detail = `${path} cannot be read: ${messageOf(error)}.`;
  const problem = diagnose('send/source-unreadable', { subject: namedSubject(path), detail });
  return new FleetError([problem], { cause: error });
}
