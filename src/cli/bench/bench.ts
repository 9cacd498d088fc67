import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { rootScript, type Session } from '../../apply/reach/session.ts';
import { pause } from '../../apply/run-timing.ts';
import { askedPort } from '../../desired/endpoints.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { withQuestion } from '../../drivers/contract/chat-request.ts';
import type { TokenRequest } from '../../drivers/contract/driver.ts';
import { publishedFor } from '../../drivers/known/known-models.ts';
import { driverOf } from '../../drivers/registry.ts';
import { parsePower, powerScript } from '../../engine/scripts/power-sample.ts';
import type { DesiredFleet, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import type { BenchLevel } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { nodeSubject, placementSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { labelled, named, prose } from '../../model/text/prose.ts';
import { streamCommand } from '../../node/endpoint/ask-endpoint.ts';
import {
  type MeasuredAnswer,
  readStream,
  type StreamReading,
  type TimedPiece,
} from '../../node/endpoint/read-stream.ts';
import { diagnoseSudo } from '../../remote/keys/password-login.ts';
import { printedText } from '../../remote/remote.ts';
import { type BenchRound, type BenchSettings, benchLevel, benchText } from '../../report/bench-text.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { closeAll, openSessions, openTargets } from '../cluster/ssh-targets.ts';
import { partsOf, placementsNamed, tokenRequestOf } from '../cluster/targets.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { measureCables, readSeconds } from '../look/measure-cables.ts';
import { fleetAsItRuns } from '../ranks/where-they-run.ts';
import { diagnosticsJson, type Ended, logFindings, pageFor, withProgress } from '../terminal/console.ts';
import { endedOnAbort, exitOfSignal } from '../terminal/signals.ts';
import { type Run, readCountOption, textOption, usageError, type VerbBody } from '../verb.ts';

/** macOS's sshd allows ten channels per connection (MaxSessions in sshd_config), and power sampling needs one. */
const mostAtOnce = 8;

export const bench: VerbBody = async (run) => {
  if (run.own['cables'] === true) return benchCables(run);
  if (run.own['out'] !== undefined || run.own['seconds'] !== undefined) {
    throw usageError('--seconds and --out are only for --cables.', 'Leave them out, or add --cables.');
  }
  const typed = readTyped(run);
  const cluster = openCluster(run);
  const { fleet } = cluster;
  wantedPlacement(run, fleet);
  const ways = openTargets(run, cluster);
  const placement = wantedPlacement(run, await fleetAsItRuns(run, cluster, ways));
  const { driver } = partsOf(fleet, placement).runtime;
  const settings = benchSettings(typed, { placement, driver });
  const members = placement.nodes.flatMap((name) => fleet.nodes.find((node) => node.name === name) ?? []);
  const sessions = await openSessions(run, ways, members);
  return endedOnAbort(
    run.signal,
    () => closeAll(sessions),
    () => measure(run, { settings, placement, fleet, sessions }),
  );
};

/** @throws FleetError `cli/usage` */
function benchCables(run: Run): Promise<Ended> {
  const others = ['requests', 'runs', 'maxTokens', 'words'].filter((name) => run.own[name] !== undefined);
  if (run.words.length > 0 || others.length > 0) {
    throw usageError('--cables measures cables, not a placement.', 'Use it only with --seconds and --out.');
  }
  const out = textOption(run, 'out');
  const seconds = readSeconds(run, true);
  const cluster = openCluster(run);
  const ways = openTargets(run, cluster);
  return measureCables(run, {
    cluster,
    ways,
    seconds,
    isTable: true,
    ...(out === undefined ? {} : { out: resolve(run.folder, out) }),
  });
}

function readTyped(run: Run): Partial<BenchSettings> {
  const text = textOption(run, 'requests');
  const requests = text?.split(',').map((word) => Number(word.trim()));
  if (requests?.some((count) => !Number.isInteger(count) || count < 1 || count > mostAtOnce) === true) {
    throw usageError(
      `"${text}" is not a valid --requests.`,
      `Use numbers from 1 to ${mostAtOnce}, separated by commas: 1,2,4`,
    );
  }
  return given({
    requests: requests && [...new Set(requests)],
    runs: readCountOption(run, 'runs'),
    maxTokens: readCountOption(run, 'maxTokens'),
    words: readCountOption(run, 'words'),
  });
}

function wantedPlacement(run: Run, fleet: DesiredFleet): DesiredPlacement {
  const [word, ...others] = run.words;
  const [only, ...more] = fleet.placements;
  if (word === undefined && only !== undefined && more.length === 0) return only;
  if (word === undefined || others.length > 0) {
    const names = fleet.placements.map(({ name }) => name).join(', ');
    throw usageError('Name one placement.', `Placements: ${names || 'none in the file'}`);
  }
  const [first, ...replicas] = placementsNamed({ fleet }, word);
  if (replicas.length === 0) return first;
  const rest = replicas.map(({ name }) => name).join(', ');
  throw usageError(
    `${word} has ${replicas.length + 1} replicas, and bench measures one.`,
    prose`Name the replica: ${meshwright('bench', first.name)} (or ${rest})`,
  );
}

interface Measured {
  readonly settings: BenchSettings;
  readonly placement: DesiredPlacement;
  readonly fleet: DesiredFleet;
  readonly sessions: readonly Session[];
}

async function measure(run: Run, { settings, placement, fleet, sessions }: Measured): Promise<Ended> {
  const { runtime, model } = partsOf(fleet, placement);
  const [leader] = sessions;
  if (leader === undefined) throw new Error(`placement ${placement.name} has no leader`);
  const { deadline: deadlineMs } = run.options;
  const target = { session: leader, port: askedPort(placement), request: tokenRequestOf(fleet, placement), deadlineMs };
  const parts = ['warm-up', ...settings.requests.map(inParallel)].map((name) => ({ name }));
  const { levels, isCounted, diagnostics } = await withProgress(run.console, ['asking', parts], (done) =>
    runLevels({
      ...settings,
      target,
      sessions,
      nonce: randomBytes(4).toString('hex'),
      signal: run.signal,
      onWarm: () => done('warm-up'),
      onLevel: (requests) => done(inParallel(requests)),
    }),
  );
  const interrupted = exitOfSignal(run.signal);
  const problems = [
    ...beyondParallel(settings, { placement, driver: runtime.driver }),
    ...diagnostics,
    ...(interrupted === undefined ? [] : [cutShort(placement)]),
  ];
  logFindings(run, problems);
  const { name, transport, nodes } = placement;
  const about = { placement: name, model: model.name, runtime: runtime.name, transport, nodes };
  const { words, maxTokens, ...counts } = settings;
  // Models are also identified by their repository and source, because names in the file are arbitrary.
  const names = [model.name, model.repository ?? '', ...Object.values(model.source).map(String)];
  const published = publishedFor(names, nodes.length);
  return {
    exit: interrupted ?? codeFor(levels),
    document: {
      ...documentHead(run.console),
      ...about,
      ...counts,
      question: { words, maxTokens },
      tokensAre: isCounted ? 'counted-by-runtime' : 'pieces-of-text',
      levels: levels.length === 0 ? null : levels,
      published: published.map(({ words: _words, ...one }) => one),
      diagnostics: diagnosticsJson(run.console, problems),
    },
    text: benchText({ ...about, ...settings, levels, isCounted, published }, pageFor(run.console)),
    findings: problems,
  };
}

const inParallel = (requests: number): string => `${requests} in parallel`;

const cutShort = ({ name }: DesiredPlacement): Diagnostic =>
  diagnose('run/interrupted', {
    subject: placementSubject(name),
    detail: prose`The measurement of ${named(name)} is incomplete.`,
  });

function codeFor(levels: readonly BenchLevel[]): ExitCode {
  if (levels.every(({ answered }) => answered === 0)) return exitCode.failed;
  return levels.some(({ failed }) => failed > 0) ? exitCode.partial : exitCode.done;
}

export interface BenchSubject {
  readonly placement: Pick<DesiredPlacement, 'name' | 'contextTokens' | 'parallel'>;
  readonly driver: DesiredRuntime['driver'];
}

const usual = { requests: [1, 2, 4], runs: 3, maxTokens: 128, words: 400 } as const;
/** The average per word of a question. A tokenizer with more tokens is not meant for English. */
const tokensPerWord = 2;
/** Tokens other than the words: the question's sentences and the chat template. */
const frameTokens = 96;

/**
 * The typed values, with defaults to match the placement: at most as many parallel requests as it answers, and at most
 * as many tokens as its context.
 * @throws FleetError `cli/usage` if the typed question and answer do not fit in the context
 */
export function benchSettings(typed: Partial<BenchSettings>, { placement, driver }: BenchSubject): BenchSettings {
  const { name, contextTokens, parallel } = placement;
  const most = hasParallel(driver) ? parallel : Number.POSITIVE_INFINITY;
  const requests = typed.requests ?? usual.requests.filter((count) => count <= most);
  const maxTokens = typed.maxTokens ?? Math.max(1, Math.min(usual.maxTokens, Math.floor(contextTokens / 4)));
  const room = Math.floor((contextTokens - maxTokens - frameTokens) / tokensPerWord);
  const words = typed.words ?? Math.max(1, Math.min(usual.words, room));
  if (words > room) {
    throw usageError(
      `${words} words and an answer of ${maxTokens} tokens do not fit in the context of ${name} (${contextTokens} tokens).`,
      room < 1 ? 'Use a smaller --max-tokens.' : `For this answer, use at most: --words ${room}`,
    );
  }
  return { requests, runs: typed.runs ?? usual.runs, maxTokens, words };
}

/** A notice if more parallel requests were typed than the placement answers. */
export function beyondParallel(
  { requests }: BenchSettings,
  { placement, driver }: BenchSubject,
): readonly Diagnostic[] {
  const { name, parallel } = placement;
  const beyond = requests.filter((count) => count > parallel);
  if (!hasParallel(driver) || beyond.length === 0) return [];
  return [
    diagnose('bench/beyond-parallel', {
      subject: placementSubject(name),
      detail: prose`${named(name)} answers ${parallel} requests in parallel (parallel: ${parallel}), but was sent ${beyond.join(' and ')}.`,
    }),
  ];
}

const hasParallel = (driver: BenchSubject['driver']): boolean =>
  driverOf({ driver }).keys.ofPlacements.includes('parallel');

interface BenchRun extends BenchSettings {
  readonly target: BenchTarget;
  /** All Macs of the placement, whose power is sampled. */
  readonly sessions: readonly Session[];
  /** Makes this run's questions unique, so that no cache contains their beginning. */
  readonly nonce: string;
  readonly signal: AbortSignal;
  readonly onWarm: () => void;
  readonly onLevel: (requests: number) => void;
}

interface Notes {
  readonly answers: MeasuredAnswer[];
  readonly failures: Map<string, number>;
  readonly unpowered: Map<string, string>;
  asked: number;
}

const warmUpTokens = 8;

/** Sends one warm-up request, followed by the runs of each level one after another. Stops if the warm-up fails. */
async function runLevels(bench: BenchRun) {
  const notes: Notes = { answers: [], failures: new Map(), unpowered: new Map(), asked: 0 };
  const levels: BenchLevel[] = [];
  const isWarm = (await askOne({ ...bench, maxTokens: Math.min(warmUpTokens, bench.maxTokens) }, notes)) !== undefined;
  notes.answers.length = 0;
  bench.onWarm();
  for (const requests of isWarm ? bench.requests : []) {
    const level = await runLevel(bench, requests, notes);
    // An interrupted level is not evidence about the mesh.
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

async function askOne(bench: BenchRun, notes: Notes): Promise<MeasuredAnswer | undefined> {
  notes.asked += 1;
  const { target, maxTokens, words, nonce } = bench;
  const text = questionText(words, `${nonce}-${notes.asked}`);
  const read = await askStreamed(target, text, maxTokens);
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
        detail: prose`${named(session.node)}, port ${port}: ${count} of ${asked} requests failed: ${reason}.`,
      }),
    ),
    ...[...unpowered].map(([node, reason]) =>
      diagnose('bench/no-power', { subject: nodeSubject(node), detail: prose`${labelled(node)}${reason}` }),
    ),
  ];
}
const words = ['cable', 'receptacle', 'rack', 'token', 'bridge', 'keeper', 'shelf', 'fan', 'window', 'river', 'lamp'];

/** A question of about this many words with a new beginning: a runtime answers a text that it has cached too fast. */
function questionText(count: number, nonce: string): string {
  const list = Array.from({ length: count }, (_, at) => words[(at * 7 + (at >> 3)) % words.length]);
  return `Number ${nonce}. Read these words: ${list.join(' ')}. Now tell a long story in which they occur.`;
}

/** The power used by a placement's Macs during sampling, or the reason why a reading is missing. */
type PowerReading =
  | { readonly kind: 'watts'; readonly watts: number }
  | { readonly kind: 'unknown'; readonly node: string; readonly reason: string };

const sampleMs = 1_000;
const sampleDeadlineMs = 15_000;
const powerMaxBytes = 262_144;

/** Samples the power of these Macs every second. The returned function stops it and returns the sum of averages. */
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
    // Limits the rate if the tool answers immediately.
    await pause(Math.max(0, sampleMs - (performance.now() - startedAtMs)), stopped);
  } while (!stopped.aborted);
  return { kind: 'watts', watts: samples.reduce((sum, one) => sum + one, 0) / samples.length };
}

async function sampleOnce(session: Session): Promise<PowerReading> {
  const unknown = (reason: string): PowerReading => ({ kind: 'unknown', node: session.node, reason });
  const limits = { name: 'power-sample', deadlineMs: sampleDeadlineMs, maxBytes: powerMaxBytes };
  const asked = await session.ask(rootScript(limits, powerScript));
  if (asked.kind === 'unreached') return unknown(plainText(asked.diagnostics[0].detail));
  const { exit, stdout, stderr } = printedText(asked.result);
  const sudo = diagnoseSudo(session.node, session.user, exit, stderr);
  if (sudo !== undefined) return unknown(plainText(sudo.detail));
  const watts = isSuccess(exit) ? parsePower(stdout) : undefined;
  if (watts !== undefined) return { kind: 'watts', watts };
  return unknown(isSuccess(exit) ? 'powermetrics printed no combined power' : `powermetrics: ${exitText(exit)}`);
}

interface BenchTarget {
  readonly session: Session;
  readonly port: number;
  /** The request for one token. */
  readonly request: TokenRequest;
  readonly deadlineMs: number;
}

/** Limit in bytes; larger than any answer from a model. */
const maxBytes = 16_777_216;
/** Added to curl's own deadline, so that curl itself can report the timeout. */
const graceMs = 5_000;

/**
 * The request body for a streamed answer, with a chat, or with a prompt for the older API without chats.
 * @see OpenAI API reference, Chat Completions and Completions
 */
export function questionBody(request: TokenRequest, text: string, maxTokens: number) {
  return {
    ...withQuestion(request, text),
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Sends one request on the leader, and records when each piece of the answer arrives here. */
async function askStreamed(target: BenchTarget, text: string, maxTokens: number): Promise<StreamReading> {
  const { session, port, request, deadlineMs } = target;
  const body = questionBody(request, text, maxTokens);
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
  // curl's message about the endpoint is more specific than its exit code.
  return isSuccess(exit) || read.kind === 'none'
    ? read
    : { kind: 'none', reason: `curl stopped early: ${exitText(exit)}` };
}
