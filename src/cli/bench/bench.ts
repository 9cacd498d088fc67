import { randomBytes } from 'node:crypto';
import { openSession, type Session } from '../../apply/reach/session.ts';
import { askedPort } from '../../desired/rank-port.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { BenchLevel } from '../../model/bench.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import { placementSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { publishedFor } from '../../report/bench/published-speeds.ts';
import { fleetAsItRuns } from '../apply/where-they-run.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { placementNamed } from '../cluster/placements.ts';
import { openWays, type Ways } from '../cluster/ways.ts';
import { showProgress } from '../terminal/progress.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { type ExitCode, exitCode } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import { readCountOption, textOption } from '../verb/own-options.ts';
import { useLimits } from '../verb/use-limits.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { runLevels } from './bench-levels.ts';
import { showBench } from './bench-output.ts';
import { type BenchWish, benchWish, beyondParallel } from './bench-wish.ts';

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
    return await measure(run, {
      wish,
      placement,
      runtime,
      fleet: cluster.fleet,
      sessions,
      isSimulated: ways.isSimulated,
    });
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
  const [runs, maxTokens, words] = [
    readCountOption(run, 'runs'),
    readCountOption(run, 'maxTokens'),
    readCountOption(run, 'words'),
  ];
  return {
    ...(requests === undefined ? {} : { requests: [...new Set(requests)] }),
    ...(runs === undefined ? {} : { runs }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(words === undefined ? {} : { words }),
  };
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
  readonly isSimulated: boolean;
}

async function measure(run: Run, measured: Measured): Promise<ExitCode> {
  const { wish, placement, runtime, fleet, sessions, isSimulated } = measured;
  const [leader] = sessions;
  const model = fleet.models.find(({ name }) => name === placement.model);
  if (leader === undefined || model === undefined) {
    throw new Error(`placement ${placement.name} passed its rules`);
  }
  const target = {
    session: leader,
    port: askedPort(placement),
    request: driverOf(runtime).tokenRequest(placement, runtime, model),
    deadlineMs: run.options.deadline,
  };
  const progress = showProgress(run.console, 'asking', ['warm-up', ...wish.requests.map(atOnce)]);
  const { levels, isCounted, diagnostics } = await runLevels({
    ...wish,
    target,
    sessions,
    nonce: randomBytes(4).toString('hex'),
    signal: run.signal,
    onWarm: () => progress.done('warm-up'),
    onLevel: (requests) => progress.done(atOnce(requests)),
  }).finally(() => progress.stop());
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
    isSimulated,
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
