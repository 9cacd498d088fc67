import { pause } from '../../apply/run-timing.ts';
import { factNames } from '../../engine/observe/facts.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { NodeObservation, RecordedRank, TokenResult } from '../../model/facts/fact-values.ts';
import type { EndpointTraffic } from '../../model/gateway.ts';
import { mapKnown, seenValue } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { notAskedReason } from '../../node/endpoint/judge-answer.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read, readValue } from '../../rack/fact.ts';
import type { LateRank } from '../../rack/placement/check/late-rank.ts';
import { fleetMemory } from '../../rack/placement/check/placement-checks.ts';
import { clientCounts, type PlacementSurvey, surveyPlacements } from '../../rack/placement/check/placement-survey.ts';
import { lateIn } from '../../rack/placement/check/rdma-suspicions.ts';
import { endpointStatus } from '../../rack/placement/mesh/gateway-steps.ts';
import { seeRank } from '../../rack/placement/mesh/rank-states.ts';
import { placementsFact } from '../../rack/placement/observed/fact.ts';
import { forMany } from '../../remote/on-abort.ts';
import { type WatchInput, watchedText, watchLines } from '../../report/status/watch-text.ts';
import { sayLine } from '../apply/plain-view.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { lockedFleet } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { isLive, liveBlock, pageFor, paragraphText, withProgress } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { timingFor } from '../use-limits.ts';
import { type Run, usageError } from '../verb.ts';
import { lostLines, patienceMs, watchFleet } from './cables.ts';
import { observeLimits } from './observe-fleet.ts';

/** The facts that change while placements serve; all others are read once, and after a lost connection. */
const often = [
  ...(['placements', 'services', 'gateways', 'swap', 'boot-session'] as const),
  // They name the late rank of a hung placement, without opening the RDMA library.
  ...(['rdma-objects', 'rdma-holders', 'reboot-mark'] as const),
];

/** `status --watch`: checks over one connection per node until Ctrl-C, and asks for a token now and then. */
export async function watchStatus(run: Run): Promise<ExitCode> {
  if (run.options.json) {
    throw usageError('--watch runs until Ctrl-C, so it cannot print one JSON document.', 'Leave out --json.');
  }
  const cluster = openCluster(run);
  const desired = lockedFleet(run, cluster);
  const nodes = targetedNodes(run, desired, run.words);
  const names = nodes.map(({ name }) => name);
  const signal = forMany(AbortSignal.any([run.signal, run.console.outClosed]));
  const timing = timingFor(run);
  const targets = await openTargets(run, cluster).toAll(nodes);
  const limits = { ...observeLimits(run), signal, facts: factNames, often, retryMs: timing.retryMs, patienceMs };
  const fleet = watchFleet(targets, limits);
  const tokens: AskedTokens = new Map();
  const ask = async (observation: FleetObservation): Promise<void> => {
    const due = leadersToAsk(observation, tokens, performance.now(), timing.watchTokenMs);
    await Promise.all(due.map(async (node) => noteTokens(tokens, node, await fleet.askTokens(node))));
  };
  const show = changePrinter(run);
  const since = new Map<string, StateSince>();
  try {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const seen = await (isFirst
        ? withProgress(run.console, ['observing', nodes], async () => {
            const first = await fleet.observe('often');
            await ask(first);
            return first;
          })
        : fleet.observe('often'));
      if (signal.aborted) break;
      if (!isFirst) void ask(seen);
      const observation = withTokens(seen, tokens, performance.now(), timing.watchTokenMs);
      const view = viewOf({ desired, observation, targets: names });
      const placements = surveyPlacements(view);
      noteStates(since, placements, timeOfDay());
      const clients = clientCounts(view, placements);
      const memory = fleetMemory(desired, observation).filter(({ node }) => names.includes(node));
      const late = new Map(placements.flatMap((one) => lateEntry(one, lateIn(view, one))));
      show({ desired, observation, placements, clients, memory, since, late });
      await pause(timing.watchMs, signal);
    }
  } finally {
    fleet.close();
  }
  return exitOfSignal(run.signal) ?? exitCode.done;
}

const lateEntry = ({ name }: PlacementSurvey, late: LateRank | undefined): readonly (readonly [string, Prose])[] =>
  late === undefined ? [] : [[name, late.text]];

const timeOfDay = (): string => new Date().toTimeString().slice(0, 8);

/** A state, and since when: `06:11:06`, or `before 06:11:06` if the first check found it. */
interface StateSince {
  readonly state: PlacementSurvey['state'];
  readonly text: string;
}

function noteStates(since: Map<string, StateSince>, placements: readonly PlacementSurvey[], time: string): void {
  for (const { name, state } of placements) {
    const before = since.get(name);
    if (before?.state !== state) since.set(name, { state, text: before === undefined ? `before ${time}` : time });
  }
}

/** Returns a function that redraws the table on a terminal, and prints a line per change elsewhere. */
function changePrinter(run: Run): (now: WatchInput) => void {
  const page = pageFor(run.console);
  const showBlock = liveBlock(run.console);
  let before: { readonly lost: readonly NodeName[]; readonly states: ReadonlyMap<string, string> } | undefined;
  return (now) => {
    const { placements, observation, desired } = now;
    const lost = desired.nodes.map(({ name }) => name).filter((name) => (observation.failures[name] ?? []).length > 0);
    const isWrong = lost.length > 0 || placements.some(({ standing }) => standing === 'differs');
    if (isLive(run.console)) {
      const doctor = paragraphText(run.console, prose`Causes and repairs: ${meshwright('doctor')}`).trimEnd();
      const lines = [...watchLines(now, page), ...lostLines({ observation, lost }, undefined, page), ''];
      showBlock([], [...lines, ...(isWrong ? doctor.split('\n') : []), `${timeOfDay()}   Press Ctrl-C to stop.`]);
      return;
    }
    const states = new Map(placements.map((one) => [one.name, [one.state, ...keysOf(one)].join(' ')]));
    const changed = placements.filter(({ name }) => states.get(name) !== before?.states.get(name));
    for (const one of changed) sayLine(run, watchedText(one, now));
    for (const line of lostLines({ observation, lost }, before, page)) run.console.out(`${line}\n`);
    before = { lost, states };
  };
}

/** The parts of a placement besides its state whose changes are reported. Texts with times always change. */
const keysOf = ({ failure, suspended, onFallback }: PlacementSurvey): readonly string[] => [
  failure?.rank ?? '',
  ...(suspended ?? []).map(({ node }) => node),
  onFallback === undefined ? '' : 'fallback',
];

/** The last request for a token to a placement's leader, by node and placement, and the last result of that start. */
export type AskedTokens = Map<string, { start: string; askedMs: number; token?: TokenResult; tokenMs?: number }>;

/** The start of a rank. A rank that is suspended or resumed outdates a token like a new start. */
const startOf = ({ generation, digest, startedIn }: RecordedRank, suspended: readonly NodeName[]): string =>
  [generation, digest, startedIn, ...suspended].join(' ');

const suspendedIn = (nodes: FleetObservation['nodes'], placement: string): readonly NodeName[] =>
  Object.values(nodes).flatMap(({ node, facts }) =>
    seenValue(seeRank(node, placement, facts).seen)?.suspended === undefined ? [] : [node],
  );

/** The ranks on a node that lead a placement and were not asked for a token. */
const unaskedLeaders = ({ node, facts }: NodeObservation, nodes: FleetObservation['nodes'], tokens: AskedTokens) =>
  (readValue(facts, placementsFact) ?? [])
    .filter(({ rank, token }) => rank === 0 && token.kind === 'not-asked')
    .map((rank) => {
      const key = `${node} ${rank.placement}`;
      const suspended = suspendedIn(nodes, rank.placement);
      const start = startOf(rank, suspended);
      const found = tokens.get(key);
      const status = endpointStatus(facts, rank.placement, rank.endpointPort);
      return { rank, key, start, suspended, last: found?.start === start ? found : undefined, status };
    });

/**
 * The nodes to ask for a token: none while a client's request is in flight there or may be, and each at most once in
 * `everyMs`, except after a new start. Every attempt counts, so that a lost result is not asked for again.
 */
export function leadersToAsk(
  { nodes }: Pick<FleetObservation, 'nodes'>,
  tokens: AskedTokens,
  nowMs: number,
  everyMs: number,
): readonly NodeName[] {
  return Object.values(nodes).flatMap((one): readonly NodeName[] => {
    const leaders = unaskedLeaders(one, nodes, tokens);
    const isFree = leaders.every(
      ({ status }) => status === undefined || (status.kind === 'known' && inFlight(status.value) === 0),
    );
    const isDue = leaders.some(({ last }) => last === undefined || nowMs - last.askedMs >= everyMs);
    if (!isFree || !isDue) return [];
    for (const { key, start, last } of leaders) tokens.set(key, { ...last, start, askedMs: nowMs });
    return [one.node];
  });
}

const inFlight = ({ running, waiting }: EndpointTraffic): number => running + waiting;

/** Keeps the results of a request, unless the placement was started again in the meantime. */
export function noteTokens(tokens: AskedTokens, node: NodeName, seen: NodeObservation | undefined): void {
  for (const rank of readValue(seen?.facts, placementsFact) ?? []) {
    const last = tokens.get(`${node} ${rank.placement}`);
    if (rank.token.kind === 'not-asked' || last?.start.startsWith(startOf(rank, [])) !== true) continue;
    last.token = rank.token;
    last.tokenMs = last.askedMs;
  }
}

/**
 * The observation with the last token of each leader's start. Requests in flight outdate a token after a while; a token
 * that did not come counts until a client gets part of an answer.
 */
export function withTokens(
  { nodes, failures }: FleetObservation,
  tokens: AskedTokens,
  nowMs: number,
  everyMs: number,
): FleetObservation {
  const withToken = (one: NodeObservation): NodeObservation => {
    const leaders = unaskedLeaders(one, nodes, tokens);
    const placements = mapKnown(read(one.facts, placementsFact), (ranks) =>
      ranks.map((rank) => {
        const leader = leaders.find((other) => other.rank === rank);
        return leader === undefined ? rank : { ...rank, token: tokenNow(leader, nowMs, everyMs) };
      }),
    );
    return { ...one, facts: { ...one.facts, placements } };
  };
  return { nodes: Object.fromEntries(Object.entries(nodes).map(([name, one]) => [name, withToken(one)])), failures };
}

function tokenNow(
  { rank, last, status, suspended }: ReturnType<typeof unaskedLeaders>[number],
  nowMs: number,
  everyMs: number,
): TokenResult {
  const traffic = status === undefined ? undefined : seenValue(status);
  const isBusy = suspended.length > 0 || (traffic !== undefined && inFlight(traffic) > 0);
  const unproven: TokenResult = isBusy ? { kind: 'in-flight', reason: notAskedReason } : rank.token;
  if (last?.token === undefined) return unproven;
  const ageMs = nowMs - (last.tokenMs ?? last.askedMs);
  const isCurrent =
    last.token.kind === 'silent'
      ? (traffic?.lastByteMsAgo ?? Number.POSITIVE_INFINITY) > ageMs
      : ageMs <= 1.5 * everyMs;
  return isBusy && !isCurrent ? unproven : last.token;
}
