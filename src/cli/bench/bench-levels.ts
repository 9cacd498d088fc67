import type { Session } from '../../apply/reach/session.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { BenchLevel } from '../../model/bench.ts';
import { nodeSubject } from '../../model/subject.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import type { TimedAnswer } from '../../node/endpoint/read-stream.ts';
import { type BenchRound, benchLevel } from '../../report/bench/bench-levels.ts';
import { type PowerReading, samplePower } from './bench-power.ts';
import { questionText } from './bench-question.ts';
import { askStreamed, type BenchTarget } from './bench-request.ts';

/** What is to be measured. */
export interface BenchRun {
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
export interface BenchResult {
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
  const power = notes.unpowered.size > 0 ? undefined : samplePower(bench.sessions);
  const rounds: BenchRound[] = [];
  for (let round = 0; round < bench.runs && !bench.signal.aborted; round += 1) {
    rounds.push(await Promise.all(Array.from({ length: requests }, () => askOne(bench, notes))));
  }
  return benchLevel(requests, rounds, wattsOf(await power?.stop(), notes));
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
