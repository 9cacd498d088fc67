import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic, NonEmpty } from '../../diagnostics/diagnostic.ts';
import {
  allProbes,
  type FactName,
  factsWithoutAnswer,
  parseFacts,
  probesOf,
  quietProbes,
  tokenProbes,
  unaskingProbes,
} from '../../engine/observe/facts.ts';
import type { NodeObservation } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText, type Probe } from '../../model/probe.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { parseFrames } from '../../node/frames.ts';
import { observationMaxBytes, observeCommand } from '../../node/observe-script.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';
import { isRunning, seeMember } from '../../rack/placement/members.ts';
import { placementsFact } from '../../rack/placement/observed/fact.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import { diagnoseExit, type ExecLimits, type ExecResult, type Remote } from '../../remote/remote.ts';
import { type LogIn, type NodeWay, type Session, type UseLimits, withRemote } from './session.ts';

/** How an observation is carried out; the caller gives randomness, so that a test can repeat it. */
export interface ObserveOptions extends UseLimits {
  /** How many nodes at once. */
  readonly parallel: number;
  /** 32 hexadecimal digits, new for every call. */
  readonly newToken: () => string;
  /** Only these facts, without asking any endpoint for a token; every fact unless given. */
  readonly facts?: readonly FactName[];
  /** How to log in; by key unless given. */
  readonly logIn?: LogIn;
  /** Called when a node has been observed or given up. */
  readonly onNode?: (node: NodeName, isObserved: boolean) => void;
  /**
   * For a verb that only shows: layouts of the file whose leaders are asked for their tokens by a second command on the
   * same connection. So no node waits for the token of another, and a mesh that lacks a rank is not waited for.
   */
  readonly tokensOf?: readonly Layout[];
  /** Called with what was seen of each node before any token has come, where `tokensOf` is given. */
  readonly onSeen?: (observation: NodeObservation, failures: readonly Diagnostic[]) => void;
}

/** How long tokens are waited for where a member of the mesh cannot be reached: as long as a Mac may be silent. */
const unseenMemberMs = 4_000;

interface Sight {
  readonly observation: NodeObservation;
  readonly failures: readonly Diagnostic[];
}

/**
 * Observes many nodes, each over one connection and with one exec. A node that is slow, dead or lying changes
 * nothing for the others: every failure becomes its own diagnostics, and its facts become unknown.
 */
export async function observeFleet(ways: readonly NodeWay[], options: ObserveOptions): Promise<FleetObservation> {
  // Without a prototype: `constructor` is a good name for a node.
  const nodes: Record<string, NodeObservation> = Object.create(null);
  const failures: Record<string, readonly Diagnostic[]> = Object.create(null);
  const { tokensOf } = options;
  const wait = tokensOf === undefined ? undefined : createTokenWait(tokensOf, unseenMemberMs);
  await forEachLimited(ways, options.parallel, async (way) => {
    const sight = await observeNode(way, options, wait);
    nodes[way.node] = sight.observation;
    if (sight.failures.length > 0) failures[way.node] = sight.failures;
    options.onNode?.(way.node, sight.failures.length === 0);
  }).finally(() => wait?.stop());
  return { nodes, failures };
}

async function observeNode(
  way: NodeWay,
  options: ObserveOptions,
  wait: ReturnType<typeof createTokenWait> | undefined,
): Promise<Sight> {
  const { node } = way;
  const noted = ({ observation, failures }: Sight): Sight => {
    wait?.note(observation);
    if (wait !== undefined) options.onSeen?.(observation, failures);
    return { observation, failures };
  };
  const look = async (remote: Remote, leftMs: number): Promise<Sight> => {
    const through = (probes: readonly Probe[], signal?: AbortSignal): Promise<Sight> =>
      observeThrough(remote, node, { leftMs, token: options.newToken(), probes, signal });
    if (wait?.leads(node) !== true) return noted(await through(probesFor(options)));
    const signal = wait.signalFor(node);
    const [sight, asked] = await Promise.all([through(unaskingProbes()).then(noted), through(tokenProbes(), signal)]);
    const isCut = signal.aborted && read(asked.observation.facts, placementsFact).kind === 'unknown';
    return isCut ? sight : withTokens(sight, asked);
  };
  const reached = await withRemote(way, options, look, options.logIn);
  return reached.kind === 'reached' ? reached.value : noted(unreached(node, reached.diagnostics));
}

/** The placements as the node shows them together with their tokens. */
const withTokens = ({ observation, failures }: Sight, { observation: { facts } }: Sight): Sight => ({
  observation: { ...observation, facts: { ...observation.facts, placements: read(facts, placementsFact) } },
  failures,
});

function unreached(node: NodeName, failures: NonEmpty<Diagnostic>): Sight {
  const facts = factsWithoutAnswer('unreachable', failures[0].summary);
  return { observation: { node, facts }, failures };
}

/** For a round trip, a login shell that is slow to start, and the frames on their way back. */
const travelMs = 2_000;

interface Look {
  readonly leftMs: number;
  readonly token: string;
  readonly probes: readonly Probe[];
  /** When aborted, the command is ended, and its answer is worth nothing. */
  readonly signal?: AbortSignal | undefined;
}

function probesFor({ facts, isQuiet = false }: Pick<SessionLook, 'facts' | 'isQuiet'>): readonly Probe[] {
  if (facts !== undefined) return probesOf(facts);
  return isQuiet ? quietProbes() : allProbes();
}

async function observeThrough(remote: Remote, node: NodeName, look: Look): Promise<Sight> {
  const { command, ...limits } = observation(remote.rootPrefix, look);
  const { signal } = look;
  return sightOf(node, await remote.exec(command, { ...limits, ...given({ signal }) }), look);
}

/** How the sessions of a run are looked at. */
interface SessionLook extends Pick<ObserveOptions, 'deadlineMs' | 'newToken' | 'facts'> {
  /** Without asking any endpoint for a token. */
  readonly isQuiet?: boolean;
}

/**
 * Observes nodes over the connections that a run has: as fresh as every other look, without another login. `deadlineMs` is for the
 * answers of one node. A quiet look asks no endpoint for a token.
 */
export async function observeSessions(
  sessions: readonly Session[],
  { deadlineMs, newToken, ...extent }: SessionLook,
): Promise<FleetObservation> {
  const nodes: Record<string, NodeObservation> = Object.create(null);
  const failures: Record<string, readonly Diagnostic[]> = Object.create(null);
  await Promise.all(
    sessions.map(async (session) => {
      const { node } = session;
      const look = { leftMs: deadlineMs, token: newToken(), probes: probesFor(extent) };
      const answer = await session.ask((rootPrefix) => observation(rootPrefix, look));
      const sight = answer.kind === 'ended' ? sightOf(node, answer.result, look) : unreached(node, answer.diagnostics);
      nodes[node] = sight.observation;
      if (sight.failures.length > 0) failures[node] = sight.failures;
    }),
  );
  return { nodes, failures };
}

function observation(rootPrefix: string, { leftMs, token, probes }: Look): { readonly command: string } & ExecLimits {
  const budgetMs = leftMs - Math.min(travelMs, leftMs / 3);
  const command = observeCommand({ probes, token, rootPrefix, budgetMs });
  return { name: 'observe', command, deadlineMs: leftMs, maxBytes: observationMaxBytes(probes) };
}

function sightOf(node: NodeName, result: ExecResult, { probes, token }: Look): Sight {
  const answers = parseFrames(result.stdout, { probes, token });
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
  const hint = 'Try again: an observation changes nothing. If the problem stays, check the network to this node.';
  if (broken) return [{ ...broken, hint }];
  if (!isSilent) return [];
  const detail = prose`The observation script gave no answer on ${named(node)} (${exitText(exit)}).`;
  return [diagnose('fact/no-frames', { subject, detail })];
}

/** One way in which the file runs a placement: the placement itself, or its fallback. */
interface Layout {
  readonly name: string;
  /** In rank order. */
  readonly nodes: readonly NodeName[];
}

/** What of a fleet has been observed so far; a node that cannot be reached has facts that are unknown. */
export type SeenSoFar = Readonly<Record<string, NodeObservation>>;

/**
 * Whether no token that this leader could still give would change how its meshes are judged: each has lost a rank. A
 * member that was seen without its process is lost. A member that nothing is known of counts only where `countsUnseen`:
 * its mesh may well answer. Ranks of layouts that the file does not have are waited for.
 */
export function hasLostMeshes(
  leader: NodeName,
  layouts: readonly Layout[],
  seen: SeenSoFar,
  countsUnseen: boolean,
): boolean {
  const placements = read(seen[leader]?.facts, placementsFact);
  if (placements?.kind !== 'known') return false;
  const isLost =
    (placement: string) =>
    (node: NodeName): boolean => {
      const facts = seen[node]?.facts;
      if (facts === undefined) return false;
      const member = seeMember(node, placement, facts).seen;
      return member.kind === 'known' ? !isRunning(member.value) : countsUnseen;
    };
  return placements.value
    .filter(({ rank }) => rank === 0)
    .every(({ placement, size }) => {
      const own = layouts.filter(
        ({ name, nodes }) => name === placement && nodes.length === size && nodes[0] === leader,
      );
      return own.length > 0 && own.every(({ nodes }) => nodes.some(isLost(placement)));
    });
}

/**
 * Ends requests for a token that no longer matter, while a fleet is observed.
 *
 * @param unseenMs how long tokens are waited for at least where a member cannot be reached
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
    /** Whether a node leads a mesh of several nodes. */
    leads: (node: NodeName): boolean => layouts.some(({ nodes }) => nodes.length > 1 && nodes[0] === node),
    /** Aborted once the token of this leader is not worth waiting for. */
    signalFor: (leader: NodeName): AbortSignal => {
      const asked = asking.get(leader) ?? new AbortController();
      asking.set(leader, asked);
      return asked.signal;
    },
    /** What was seen of a node, without any token. */
    note: (observation: NodeObservation): void => {
      seen[observation.node] = observation;
      endLost();
    },
    stop: (): void => clearTimeout(patience),
  };
}
