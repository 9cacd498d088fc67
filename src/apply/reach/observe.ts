import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic, NonEmpty } from '../../diagnostics/diagnostic.ts';
import {
  allProbes,
  type FactName,
  factsWithoutAnswer,
  parseFacts,
  probesOf,
  quietProbes,
  searchingFor,
  tokenProbes,
  unaskingProbes,
} from '../../engine/observe/facts.ts';
import type { NodeObservation } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { mapKnown, seenValue } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText, type Probe } from '../../model/probe.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { parseFrames } from '../../node/frames.ts';
import { observationMaxBytes, observeCommand } from '../../node/observe-script.ts';
import type { SoughtModel } from '../../node/probes/model-copies.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read, readValue } from '../../rack/fact.ts';
import { isRunning, seeRank } from '../../rack/placement/mesh/rank-states.ts';
import { placementsFact } from '../../rack/placement/observed/fact.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import { diagnoseExit, type ExecLimits, type ExecResult, type Remote } from '../../remote/remote.ts';
import { type LogIn, type NodeTarget, type Session, type UseLimits, withRemote } from './session.ts';

/** Options of an observation. The caller provides randomness, so that tests are repeatable. */
export interface ObserveOptions extends UseLimits {
  readonly parallel: number;
  /** 32 hexadecimal digits, new for every call. */
  readonly newBoundary: () => string;
  /** Only these facts, without requesting tokens; default: all facts. */
  readonly facts?: readonly FactName[];
  /** The models to search for on a node, in folders of other software; default: no search. */
  readonly modelsOn?: (node: NodeName) => readonly SoughtModel[] | undefined;
  /** Default: by key. */
  readonly logIn?: LogIn;
  /** Called when a node has been observed or given up. */
  readonly onNode?: (node: NodeName, isObserved: boolean) => void;
  /**
   * For commands that only show. The leaders of these layouts are asked for a token by a second command on the same
   * connection. A node therefore never waits for another node's token, and incomplete meshes do not delay anything.
   */
  readonly tokensOf?: readonly Layout[];
  /** With `tokensOf`: called with each node's observation before any token arrives. */
  readonly onSeen?: (observation: NodeObservation, failures: readonly Diagnostic[]) => void;
}

/** How long to wait for a token if a node in the mesh is unreachable. */
const unseenRankMs = 4_000;

interface NodeAnswer {
  readonly observation: NodeObservation;
  readonly failures: readonly Diagnostic[];
}

/** Observes many nodes, each with one connection and exec. A bad node affects no other: its facts become unknown. */
export async function observeFleet(ways: readonly NodeTarget[], options: ObserveOptions): Promise<FleetObservation> {
  // An object without a prototype, because a node can be named `constructor`.
  const nodes: Record<string, NodeObservation> = Object.create(null);
  const failures: Record<string, readonly Diagnostic[]> = Object.create(null);
  const { tokensOf } = options;
  const wait = tokensOf === undefined ? undefined : createTokenWait(tokensOf, unseenRankMs);
  await forEachLimited(ways, options.parallel, async (way) => {
    const answer = await observeNode(way, options, wait);
    nodes[way.node] = answer.observation;
    if (answer.failures.length > 0) failures[way.node] = answer.failures;
    options.onNode?.(way.node, answer.failures.length === 0);
  }).finally(() => wait?.stop());
  return { nodes, failures };
}

/**
 * Observes the Macs of meshes again whose ranks all ran but returned no token, without requesting one: the request may
 * have ended a rank or its Mac after that Mac had answered. A suspended rank needs no second look: it is the cause.
 * @param observe observes these nodes without requesting tokens
 */
export async function observeSilentMeshes(
  before: FleetObservation,
  layouts: readonly Layout[],
  observe: (nodes: readonly NodeName[]) => Promise<FleetObservation>,
): Promise<FleetObservation> {
  const silent = layouts.filter(({ name, nodes }) => {
    const ranks = nodes.map((node) => seenValue(seeRank(node, name, before.nodes[node]?.facts).seen));
    const ran = ranks.filter((rank) => rank !== undefined && isRunning(rank) && rank.suspended === undefined);
    return ranks[0]?.record?.token.kind === 'silent' && ran.length === ranks.length;
  });
  if (silent.length === 0) return before;
  const now = await observe([...new Set(silent.flatMap(({ nodes }) => nodes))]);
  const nodes = Object.values(now.nodes).map((one) => [one.node, withTokenOf(before.nodes[one.node], one)] as const);
  return joinedObservation(before, { ...now, nodes: Object.fromEntries(nodes) });
}

/** The newer facts, with the tokens of the same starts. */
function withTokenOf(before: NodeObservation | undefined, now: NodeObservation): NodeObservation {
  const asked = readValue(before?.facts, placementsFact) ?? [];
  const placements = mapKnown(read(now.facts, placementsFact), (ranks) =>
    ranks.map((rank) => {
      const same = asked.find((one) => one.placement === rank.placement && one.generation === rank.generation);
      return { ...rank, token: same?.token ?? rank.token };
    }),
  );
  return { ...now, facts: { ...now.facts, placements } };
}

/** An observation with newer ones of some of its nodes. */
export function joinedObservation(before: FleetObservation, now: FleetObservation): FleetObservation {
  const older = Object.entries(before.failures).filter(([node]) => !Object.hasOwn(now.nodes, node));
  // Without prototypes, because a node can be named `constructor`.
  return {
    nodes: Object.assign(Object.create(null), before.nodes, now.nodes),
    failures: Object.assign(Object.create(null), Object.fromEntries(older), now.failures),
  };
}

async function observeNode(
  way: NodeTarget,
  options: ObserveOptions,
  wait: ReturnType<typeof createTokenWait> | undefined,
): Promise<NodeAnswer> {
  const { node } = way;
  const noted = ({ observation, failures }: NodeAnswer): NodeAnswer => {
    wait?.note(observation);
    if (wait !== undefined) options.onSeen?.(observation, failures);
    return { observation, failures };
  };
  const observe = async (remote: Remote, leftMs: number): Promise<NodeAnswer> => {
    const through = (probes: readonly Probe[], signal?: AbortSignal): Promise<NodeAnswer> =>
      observeThrough(remote, node, { leftMs, boundary: options.newBoundary(), probes, signal });
    if (wait?.leads(node) !== true) return noted(await through(probesFor(options, options.modelsOn?.(node))));
    const signal = wait.signalFor(node);
    const [answer, asked] = await Promise.all([
      through(searchingFor(options.modelsOn?.(node), unaskingProbes())).then(noted),
      through(tokenProbes(), signal),
    ]);
    const isCut = signal.aborted && read(asked.observation.facts, placementsFact).kind === 'unknown';
    return isCut ? answer : withTokens(answer, asked);
  };
  const reached = await withRemote(way, options, observe, options.logIn);
  return reached.kind === 'reached' ? reached.value : noted(unreached(node, reached.diagnostics));
}

const withTokens = ({ observation, failures }: NodeAnswer, { observation: { facts } }: NodeAnswer): NodeAnswer => ({
  observation: { ...observation, facts: { ...observation.facts, placements: read(facts, placementsFact) } },
  failures,
});

function unreached(node: NodeName, failures: NonEmpty<Diagnostic>): NodeAnswer {
  const facts = factsWithoutAnswer('unreachable', failures[0].summary);
  return { observation: { node, facts }, failures };
}

/** Time for the round trip, a slow login shell, and the transfer of the answers. */
const travelMs = 2_000;

interface ObserveRequest {
  readonly leftMs: number;
  readonly boundary: string;
  readonly probes: readonly Probe[];
  /** If it aborts, the command is stopped and its answer discarded. */
  readonly signal?: AbortSignal | undefined;
}

function probesFor(
  { facts, isQuiet = false, asksTokens = false }: Pick<SessionExtent, 'facts' | 'isQuiet' | 'asksTokens'>,
  models?: readonly SoughtModel[],
): readonly Probe[] {
  const full = isQuiet ? quietProbes() : allProbes();
  const probes = facts === undefined ? full : probesOf(facts, isQuiet || asksTokens ? full : unaskingProbes());
  return searchingFor(facts?.includes('model-copies') === false ? undefined : models, probes);
}

async function observeThrough(remote: Remote, node: NodeName, request: ObserveRequest): Promise<NodeAnswer> {
  const { command, ...limits } = observation(remote.rootPrefix, request);
  const { signal } = request;
  return answerOf(node, await remote.exec(command, { ...limits, ...given({ signal }) }), request);
}

interface SessionExtent extends Pick<ObserveOptions, 'deadlineMs' | 'newBoundary' | 'facts'> {
  /** Without requesting tokens. */
  readonly isQuiet?: boolean;
  /** Requests tokens even if only some facts are read. */
  readonly asksTokens?: boolean;
}

/** Observes nodes over a run's connections, without new logins. `deadlineMs` limits the time for one node's answers. */
export async function observeSessions(
  sessions: readonly Session[],
  { deadlineMs, newBoundary, ...extent }: SessionExtent,
): Promise<FleetObservation> {
  const nodes: Record<string, NodeObservation> = Object.create(null);
  const failures: Record<string, readonly Diagnostic[]> = Object.create(null);
  await Promise.all(
    sessions.map(async (session) => {
      const { node } = session;
      const request = { leftMs: deadlineMs, boundary: newBoundary(), probes: probesFor(extent) };
      const answer = await session.ask((rootPrefix) => observation(rootPrefix, request));
      const seen =
        answer.kind === 'ended' ? answerOf(node, answer.result, request) : unreached(node, answer.diagnostics);
      nodes[node] = seen.observation;
      if (seen.failures.length > 0) failures[node] = seen.failures;
    }),
  );
  return { nodes, failures };
}

function observation(
  rootPrefix: string,
  { leftMs, boundary, probes }: ObserveRequest,
): { readonly command: string } & ExecLimits {
  const budgetMs = leftMs - Math.min(travelMs, leftMs / 3);
  const command = observeCommand({ probes, boundary, rootPrefix, budgetMs });
  return { name: 'observe', command, deadlineMs: leftMs, maxBytes: observationMaxBytes(probes) };
}

function answerOf(node: NodeName, result: ExecResult, { probes, boundary }: ObserveRequest): NodeAnswer {
  const answers = parseFrames(result.stdout, { probes, boundary });
  const isSilent = answers.every((answer) => answer.missing !== undefined);
  return { observation: { node, facts: parseFacts(answers, result) }, failures: brokenOff(node, result, isSilent) };
}

function brokenOff(node: NodeName, result: ExecResult, isSilent: boolean): readonly Diagnostic[] {
  const subject = nodeSubject(node);
  const { exit, isTruncated } = result;
  if (isTruncated) {
    const detail = prose`${named(node)} sent more data than the probes can print; the rest was ignored.`;
    return [diagnose('fact/too-much-output', { subject, detail })];
  }
  const broken = diagnoseExit(node, exit);
  const hint = 'Try again: an observation changes nothing. If the problem remains, check the network to this node.';
  if (broken) return [{ ...broken, hint }];
  if (!isSilent) return [];
  const detail = prose`The observation script gave no answer on ${named(node)} (${exitText(exit)}).`;
  return [diagnose('fact/no-frames', { subject, detail })];
}

/** One layout of a placement: its own nodes or its fallback. */
interface Layout {
  readonly name: string;
  /** In rank order. */
  readonly nodes: readonly NodeName[];
}

/** The nodes observed so far; unreachable ones have unknown facts. */
export type SeenSoFar = Readonly<Record<string, NodeObservation>>;

/**
 * True if every mesh of this leader has lost a rank, so that a token would not change the result. A rank is lost if its
 * process was seen to be gone. Unobserved ranks count as lost only with `countsUnseen`, because their mesh can still
 * answer. Meshes in layouts that are not in the file never count as lost.
 */
export function hasLostMeshes(
  leader: NodeName,
  layouts: readonly Layout[],
  seen: SeenSoFar,
  countsUnseen: boolean,
): boolean {
  const placements = read(seen[leader]?.facts, placementsFact);
  if (placements?.kind !== 'known') return false;
  const isLost = (placement: string, node: NodeName): boolean => {
    const facts = seen[node]?.facts;
    if (facts === undefined) return false;
    const rank = seeRank(node, placement, facts).seen;
    return rank.kind === 'known' ? !isRunning(rank.value) : countsUnseen;
  };
  return placements.value
    .filter(({ rank }) => rank === 0)
    .every(({ placement, size }) => {
      const own = layouts.filter(
        ({ name, nodes }) => name === placement && nodes.length === size && nodes[0] === leader,
      );
      return own.length > 0 && own.every(({ nodes }) => nodes.some((node) => isLost(placement, node)));
    });
}

/**
 * Cancels token requests whose results no longer matter to an observation.
 * @param unseenMs the minimum wait if a node in the mesh is unreachable
 */
function createTokenWait(layouts: readonly Layout[], unseenMs: number) {
  const seen: Record<string, NodeObservation> = Object.create(null);
  const asking = new Map<NodeName, AbortController>();
  let countsUnseen = false;
  const endLost = (): void => {
    for (const [leader, asked] of asking) {
      if (hasLostMeshes(leader, layouts, seen, countsUnseen)) asked.abort();
    }
  };
  const patience = setTimeout(() => {
    countsUnseen = true;
    endLost();
  }, unseenMs);
  patience.unref();
  return {
    /** True if a node leads a mesh of several nodes. */
    leads: (node: NodeName): boolean => layouts.some(({ nodes }) => nodes.length > 1 && nodes[0] === node),
    /** Aborts once this leader's token no longer matters. */
    signalFor: (leader: NodeName): AbortSignal => {
      const asked = asking.get(leader) ?? new AbortController();
      asking.set(leader, asked);
      return asked.signal;
    },
    /** Adds a node's observation without tokens. */
    note: (observation: NodeObservation): void => {
      seen[observation.node] = observation;
      endLost();
    },
    stop: (): void => clearTimeout(patience),
  };
}
