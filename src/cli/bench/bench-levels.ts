import { performance } from 'node:perf_hooks';
import type { Session } from '../../apply/reach/session.ts';
import { pause } from '../../apply/run-timing.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { withQuestion } from '../../drivers/contract/chat-request.ts';
import type { TokenRequest } from '../../drivers/contract/driver.ts';
import { parsePower, powerScript } from '../../engine/scripts/power-sample.ts';
import type { BenchLevel } from '../../model/bench.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { streamCommand } from '../../node/endpoint/ask-endpoint.ts';
import { readStream, type StreamReading, type TimedAnswer, type TimedPiece } from '../../node/endpoint/read-stream.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { diagnoseSudo } from '../../remote/keys/password-login.ts';
import { type BenchRound, benchLevel } from '../../report/bench-text.ts';

/** What is to be measured. */
interface BenchRun {
  readonly target: BenchTarget;
  /** All Macs of the placement: whose power is sampled. */
  readonly sessions: readonly Session[];
  readonly requests: readonly number[];
  readonly runs: number;
  readonly maxTokens: number;
  readonly words: number;
  /** Makes the questions of this run differ from those of any other, so that no cache has their beginning. */
  readonly nonce: string;
  readonly signal: AbortSignal;
  readonly onWarm: () => void;
  readonly onLevel: (requests: number) => void;
}

/** What was measured. */
interface BenchResult {
  readonly levels: readonly BenchLevel[];
  readonly isCounted: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

interface Notes {
  readonly answers: TimedAnswer[];
  readonly failures: Map<string, number>;
  readonly unpowered: Map<string, string>;
  asked: number;
}

const warmUpTokens = 8;

/** Asks once to warm up, then each level its runs, one after another; what cannot be answered at all ends it. */
export async function runLevels(bench: BenchRun): Promise<BenchResult> {
  const notes: Notes = { answers: [], failures: new Map(), unpowered: new Map(), asked: 0 };
  const levels: BenchLevel[] = [];
  const isWarm = (await askOne({ ...bench, maxTokens: Math.min(warmUpTokens, bench.maxTokens) }, notes)) !== undefined;
  notes.answers.length = 0;
  bench.onWarm();
  for (const requests of isWarm ? bench.requests : []) {
    const level = await runLevel(bench, requests, notes);
    // What was cut off says nothing about the mesh.
    if (bench.signal.aborted) break;
    levels.push(level);
    bench.onLevel(requests);
  }
  return {
    levels,
    isCounted: notes.answers.every((one) => one.isCounted),
    diagnostics: bench.signal.aborted ? [] : diagnosticsOf(bench, notes),
  };
}

async function runLevel(bench: BenchRun, requests: number, notes: Notes): Promise<BenchLevel> {
  const stopSampling = notes.unpowered.size > 0 ? undefined : samplePower(bench.sessions);
  const rounds: BenchRound[] = [];
  for (let round = 0; round < bench.runs && !bench.signal.aborted; round += 1) {
    rounds.push(await Promise.all(Array.from({ length: requests }, () => askOne(bench, notes))));
  }
  return benchLevel(requests, rounds, wattsOf(await stopSampling?.(), notes));
}

function wattsOf(reading: PowerReading | undefined, { unpowered }: Notes): number | undefined {
  if (reading?.kind === 'unknown') unpowered.set(reading.node, reading.reason);
  return reading?.kind === 'watts' ? reading.watts : undefined;
}

async function askOne(bench: BenchRun, notes: Notes): Promise<TimedAnswer | undefined> {
  notes.asked += 1;
  const { target, maxTokens, words, nonce } = bench;
  const text = questionText(words, `${nonce}-${notes.asked}`);
  const read = await askStreamed(target, { text, maxTokens });
  if (read.kind === 'answer') {
    notes.answers.push(read.answer);
    return read.answer;
  }
  notes.failures.set(read.reason, (notes.failures.get(read.reason) ?? 0) + 1);
  return undefined;
}

function diagnosticsOf({ target }: BenchRun, { failures, unpowered, asked }: Notes): readonly Diagnostic[] {
  const { session, port } = target;
  return [
    ...[...failures].map(([reason, count]) =>
      diagnose('bench/no-answer', {
        subject: nodeSubject(session.node),
        detail: prose`${named(session.node)}, port ${port}: ${count} of ${asked} requests came to nothing: ${reason}.`,
      }),
    ),
    ...[...unpowered].map(([node, reason]) =>
      diagnose('bench/no-power', { subject: nodeSubject(node), detail: prose`${labelled(node)}${reason}` }),
    ),
  ];
}
const words = ['cable', 'receptacle', 'rack', 'token', 'bridge', 'keeper', 'shelf', 'fan', 'window', 'river', 'lamp'];

/**
 * A question of about so many words whose beginning nobody has asked before: runtimes keep what they have read of a
 * question, and would answer the second one of a kind faster than any client ever sees.
 */
function questionText(count: number, nonce: string): string {
  const list = Array.from({ length: count }, (_, at) => words[(at * 7 + (at >> 3)) % words.length]);
  return `Number ${nonce}. Read these words: ${list.join(' ')}. Now tell a long story in which they occur.`;
}

/** What the Macs of a placement took while they were sampled, or why one of them could not say. */
type PowerReading =
  | { readonly kind: 'watts'; readonly watts: number }
  | { readonly kind: 'unknown'; readonly node: string; readonly reason: string };

const sampleMs = 1_000;
const sampleDeadlineMs = 15_000;
const powerMaxBytes = 262_144;

/** Samples the power of all these Macs at once, a second each, until what it gives is called: the means, added up. */
function samplePower(sessions: readonly Session[]): () => Promise<PowerReading> {
  const stopped = new AbortController();
  const readings = Promise.all(sessions.map((session) => sampleNode(session, stopped.signal)));
  return async () => {
    stopped.abort();
    const all = await readings;
    const unknown = all.find((one) => one.kind === 'unknown');
    if (unknown !== undefined) return unknown;
    return { kind: 'watts', watts: all.reduce((sum, one) => sum + (one.kind === 'watts' ? one.watts : 0), 0) };
  };
}

async function sampleNode(session: Session, stopped: AbortSignal): Promise<PowerReading> {
  const samples: number[] = [];
  do {
    const startedAtMs = performance.now();
    const reading = await sampleOnce(session);
    if (reading.kind === 'unknown') return reading;
    samples.push(reading.watts);
    // A tool that answers at once is not asked in a tight circle.
    await pause(Math.max(0, sampleMs - (performance.now() - startedAtMs)), stopped);
  } while (!stopped.aborted);
  return { kind: 'watts', watts: samples.reduce((sum, one) => sum + one, 0) / samples.length };
}

async function sampleOnce(session: Session): Promise<PowerReading> {
  const unknown = (reason: string): PowerReading => ({ kind: 'unknown', node: session.node, reason });
  const limits = { name: 'power-sample', deadlineMs: sampleDeadlineMs, maxBytes: powerMaxBytes };
  const asked = await session.ask((rootPrefix) => {
    const script = powerScript(rootPrefix);
    return { ...limits, command: mutatingCommand(rootPrefix), script, stdin: Buffer.from(script) };
  });
  if (asked.kind === 'unreached') return unknown(plainText(asked.diagnostics[0].detail));
  const { exit, stdout, stderr } = asked.result;
  const [said, problem] = [stdout, stderr].map((bytes) => Buffer.from(bytes).toString());
  const sudo = diagnoseSudo(session.node, session.user, exit, problem ?? '');
  if (sudo !== undefined) return unknown(plainText(sudo.detail));
  const watts = isSuccess(exit) ? parsePower(said ?? '') : undefined;
  if (watts !== undefined) return { kind: 'watts', watts };
  return unknown(isSuccess(exit) ? 'powermetrics told no combined power' : `powermetrics: ${exitText(exit)}`);
}

/** Where and how long a placement is asked. */
interface BenchTarget {
  readonly session: Session;
  readonly port: number;
  /** What makes the endpoint give one token. */
  readonly request: TokenRequest;
  readonly deadlineMs: number;
}

/** One question. */
interface BenchQuestion {
  readonly text: string;
  readonly maxTokens: number;
}

/** An answer is text; more than this is no answer of a model. */
const maxBytes = 16_777_216;
/** Beyond curl's own deadline, so that curl can say itself that it passed. */
const graceMs = 5_000;

/**
 * The document that asks a question and wants the answer as a stream: a chat, or a prompt where the endpoint is the
 * older one that takes no chat.
 *
 * @see OpenAI API reference, Chat Completions and Completions
 */
export function questionBody(request: TokenRequest, { text, maxTokens }: BenchQuestion) {
  return {
    ...withQuestion(request, text),
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Asks once, on the leader itself, and times the pieces of the answer as they arrive here. */
async function askStreamed(target: BenchTarget, { text, maxTokens }: BenchQuestion): Promise<StreamReading> {
  const { session, port, request, deadlineMs } = target;
  const body = questionBody(request, { text, maxTokens });
  const pieces: TimedPiece[] = [];
  const decoder = new TextDecoder();
  const asked = await session.ask((rootPrefix) => ({
    name: 'bench',
    command: streamCommand({ port, path: request.path, deadlineSeconds: deadlineMs / 1_000, rootPrefix }),
    stdin: Buffer.from(JSON.stringify(body)),
    deadlineMs: deadlineMs + graceMs,
    maxBytes,
    onOutput: (stream, piece) => {
      if (stream === 'stdout') pieces.push({ atMs: performance.now(), text: decoder.decode(piece, { stream: true }) });
    },
  }));
  if (asked.kind === 'unreached') return { kind: 'none', reason: plainText(asked.diagnostics[0].detail) };
  const { exit } = asked.result;
  const read = readStream(pieces);
  // What curl says of the endpoint tells more than how curl ended.
  return isSuccess(exit) || read.kind === 'none'
    ? read
    : { kind: 'none', reason: `curl ended early: ${exitText(exit)}` };
}
