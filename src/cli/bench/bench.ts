import { randomBytes } from 'node:crypto';
import { openSession, type Session } from '../../apply/reach/session.ts';
import { askedPort } from '../../desired/endpoints.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { BenchLevel } from '../../model/bench.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { placementSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { type BenchTextInput, benchText, publishedFor } from '../../report/bench-text.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { placementNamed } from '../cluster/targets.ts';
import { openWays, type Ways } from '../cluster/ways.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { fleetAsItRuns } from '../ranks/where-they-run.ts';
import { diagnosticsJson, logFindings, pageFor, showDiagnostics, showJson } from '../terminal/console.ts';
import { withProgress } from '../terminal/progress.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { useLimits } from '../use-limits.ts';
import { type Run, readCountOption, textOption, usageError, type VerbBody } from '../verb.ts';
import { runLevels } from './bench-levels.ts';

/** sshd of macOS opens ten channels on one connection (MaxSessions of sshd_config), and power is sampled on one of them. */
const mostAtOnce = 8;
const retryMs = 500;

/** `bench PLACEMENT`: measures how fast a placement answers, alone and under several requests at once. */
export const bench: VerbBody = async (run) => {
  const typed = readTyped(run);
  const cluster = openCluster(run);
  wantedPlacement(run, cluster.fleet);
  const ways = openWays(run, cluster);
  const placement = wantedPlacement(run, await fleetAsItRuns(run, cluster, ways));
  const runtime = cluster.fleet.runtimes.find(({ name }) => name === placement.runtime);
  if (runtime === undefined) throw new Error(`placement ${placement.name} passed its rules`);
  const wish = benchWish(typed, { placement, driver: runtime.driver });
  const sessions = await openMembers(run, placement, { fleet: cluster.fleet, ways });
  const close = (): void => {
    for (const session of sessions) session.close();
  };
  run.signal.addEventListener('abort', close, { once: true });
  try {
    return await measure(run, { wish, placement, runtime, fleet: cluster.fleet, sessions });
  } finally {
    run.signal.removeEventListener('abort', close);
    close();
  }
};

function readTyped(run: Run): Partial<BenchWish> {
  const text = textOption(run, 'requests');
  const requests = text?.split(',').map((word) => Number(word.trim()));
  if (requests?.some((count) => !Number.isInteger(count) || count < 1 || count > mostAtOnce) === true) {
    throw usageError(`"${text}" is no list for --requests.`, `Say numbers from 1 to ${mostAtOnce} with commas: 1,2,4`);
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
  return placementNamed({ fleet }, word);
}

async function openMembers(
  run: Run,
  { nodes }: DesiredPlacement,
  { fleet, ways }: { readonly fleet: DesiredFleet; readonly ways: Ways },
): Promise<readonly Session[]> {
  const members = nodes.flatMap((name) => fleet.nodes.find((node) => node.name === name) ?? []);
  const { signal: _ended, ...limits } = useLimits(run);
  return (await ways.toAll(members)).map((way) => openSession(way, { ...limits, retryMs }));
}

interface Measured {
  readonly wish: BenchWish;
  readonly placement: DesiredPlacement;
  readonly runtime: DesiredRuntime;
  readonly fleet: DesiredFleet;
  readonly sessions: readonly Session[];
}

async function measure(run: Run, measured: Measured): Promise<ExitCode> {
  const { wish, placement, runtime, fleet, sessions } = measured;
  const [leader] = sessions;
  const model = fleet.models.find(({ name }) => name === placement.model);
  if (leader === undefined || model === undefined) throw new Error(`placement ${placement.name} passed its rules`);
  const target = {
    session: leader,
    port: askedPort(placement),
    request: driverOf(runtime).tokenRequest(placement, runtime, model),
    deadlineMs: run.options.deadline,
  };
  const parts = ['warm-up', ...wish.requests.map(atOnce)].map((name) => ({ name }));
  const { levels, isCounted, diagnostics } = await withProgress(run.console, ['asking', parts], (done) =>
    runLevels({
      ...wish,
      target,
      sessions,
      nonce: randomBytes(4).toString('hex'),
      signal: run.signal,
      onWarm: () => done('warm-up'),
      onLevel: (requests) => done(atOnce(requests)),
    }),
  );
  const interrupted = exitOfSignal(run.signal);
  const told = [
    ...beyondParallel(wish, { placement, driver: runtime.driver }),
    ...diagnostics,
    ...(interrupted === undefined ? [] : [cutShort(placement)]),
  ];
  showBench(run, {
    placement: placement.name,
    model: placement.model,
    runtime: placement.runtime,
    transport: placement.transport,
    nodes: placement.nodes,
    ...wish,
    levels,
    isCounted,
    published: publishedFor([placement.model, sourceText(model)], placement.nodes.length),
    isSimulated: run.console.isSimulated,
    diagnostics: told,
  });
  return interrupted ?? codeFor(levels);
}

const atOnce = (requests: number): string => `${requests} at once`;

/** Models are also known by where they come from: the file may call them as it likes. */
function sourceText({ source }: DesiredModel): string {
  return source.kind === 'url' ? source.base : source.folder;
}

const cutShort = ({ name }: DesiredPlacement): Diagnostic =>
  diagnose('run/interrupted', {
    subject: placementSubject(name),
    detail: prose`${named(name)} was not measured to the end.`,
  });

function codeFor(levels: readonly BenchLevel[]): ExitCode {
  if (levels.every(({ answered }) => answered === 0)) return exitCode.failed;
  return levels.some(({ failed }) => failed > 0) ? exitCode.partial : exitCode.done;
}

/** How a placement is to be measured. */
interface BenchWish {
  readonly requests: readonly number[];
  readonly runs: number;
  readonly maxTokens: number;
  readonly words: number;
}

/** What is measured, as far as it bounds a measurement. */
export interface BenchSubject {
  readonly placement: Pick<DesiredPlacement, 'name' | 'contextTokens' | 'parallel'>;
  readonly driver: DesiredRuntime['driver'];
}

const usual = { requests: [1, 2, 4], runs: 3, maxTokens: 128, words: 400 } as const;
/** Of the words of a question, on average; a tokenizer that makes more of them knows no English. */
const tokensPerWord = 2;
/** What stands around the words: the sentences of the question, and the template of a chat. */
const frameTokens = 96;

/**
 * What was typed, and where nothing was typed what the memory of the placement was made for: not more requests at once
 * than it answers at once, and not more tokens than its context.
 * @throws FleetError `cli/usage` when the question and the answer that were typed do not fit in the context
 */
export function benchWish(typed: Partial<BenchWish>, { placement, driver }: BenchSubject): BenchWish {
  const { name, contextTokens, parallel } = placement;
  const most = hasParallel(driver) ? parallel : Number.POSITIVE_INFINITY;
  const requests = typed.requests ?? usual.requests.filter((count) => count <= most);
  const maxTokens = typed.maxTokens ?? Math.max(1, Math.min(usual.maxTokens, Math.floor(contextTokens / 4)));
  const room = Math.floor((contextTokens - maxTokens - frameTokens) / tokensPerWord);
  const words = typed.words ?? Math.max(1, Math.min(usual.words, room));
  if (words > room) {
    throw usageError(
      `${words} words and an answer of ${maxTokens} tokens do not fit in the context of ${name}, ${contextTokens} tokens.`,
      room < 1 ? 'Say fewer --max-tokens.' : `With this answer at most: --words ${room}`,
    );
  }
  return { requests, runs: typed.runs ?? usual.runs, maxTokens, words };
}

/** What whoever typed more requests at once than the placement answers at once should know. */
export function beyondParallel({ requests }: BenchWish, { placement, driver }: BenchSubject): readonly Diagnostic[] {
  const { name, parallel } = placement;
  const beyond = requests.filter((count) => count > parallel);
  if (!hasParallel(driver) || beyond.length === 0) return [];
  return [
    diagnose('bench/beyond-parallel', {
      subject: placementSubject(name),
      detail: prose`${named(name)} answers ${parallel} at once (parallel: ${parallel}), and was asked ${beyond.join(' and ')} at once.`,
    }),
  ];
}

const hasParallel = (driver: BenchSubject['driver']): boolean =>
  driverOf({ driver }).keys.ofPlacements.includes('parallel');

/** What a measurement shows. */
interface BenchShown extends Omit<BenchTextInput, 'columns' | 'unicode' | 'paint'> {
  readonly diagnostics: readonly Diagnostic[];
}

/** Shows a measurement as text, or as one JSON document. */
function showBench(run: Run, shown: BenchShown): void {
  const { console } = run;
  const { diagnostics, isSimulated, isCounted, words, maxTokens, levels, published, ...about } = shown;
  logFindings(run, diagnostics);
  if (run.options.json) {
    showJson(console, {
      formatVersion: 1,
      ...(isSimulated ? { simulated: true } : {}),
      ...about,
      question: { words, maxTokens },
      tokensAre: isCounted ? 'counted-by-runtime' : 'pieces-of-text',
      levels: levels.length === 0 ? null : levels,
      published: published.map(({ words: _words, ...one }) => one),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
    return;
  }
  console.out(benchText({ ...shown, ...pageFor(console) }));
  showDiagnostics(console, diagnostics);
}
