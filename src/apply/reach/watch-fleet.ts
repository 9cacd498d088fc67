import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type FactName, factsWithoutAnswer } from '../../engine/observe/facts.ts';
import type { Facts, NodeObservation } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { factNamed } from '../../rack/fact.ts';
import { limiter } from '../../remote/limit-parallel.ts';
import { pause } from '../run-timing.ts';
import { observeSessions } from './observe.ts';
import { type NodeWay, openSession, type Session, type UseLimits } from './session.ts';

/** How a fleet is looked at again and again. */
export interface WatchOptions extends UseLimits {
  /** How many nodes at once. */
  readonly parallel: number;
  /** 32 hexadecimal digits, new for every call. */
  readonly newToken: () => string;
  /** Everything that a node is asked once it is there, and whenever a look is to be a whole one. */
  readonly facts: readonly FactName[];
  /** What every look asks. */
  readonly often: readonly FactName[];
  /** Before a node that was lost is tried again. */
  readonly retryMs: number;
  /** How long a look waits for a node, at least, once its look has begun and another node has answered. */
  readonly patienceMs: number;
}

/** Nodes that are looked at again and again, over one connection each. */
export interface FleetWatch {
  /**
   * One exec on each node that answers; resolves when all of them have answered or were given up. A node that has gone
   * silent is not waited for until the deadline: once others have answered, it has twice the time of the slowest of them,
   * twice its own last time, and the patience beyond the slowest, all from when its own look has begun. A node that was
   * given up is tried again by itself, without holding up the others, and is in a later look again.
   */
  readonly look: (extent: 'whole' | 'often') => Promise<FleetObservation>;
  readonly close: () => void;
}

interface WatchedNode {
  readonly session: Session;
  /** As last seen, with everything that an earlier whole look has told; undefined while the node is lost. */
  seen: NodeObservation | undefined;
  /** Why it is lost, and how it looks then. */
  lost: { readonly observation: NodeObservation; readonly failures: readonly Diagnostic[] } | undefined;
  /** When the look that is under way has begun; undefined while it waits for a place. */
  beganMs: number | undefined;
  /** How long the last look took that was answered. */
  lastMs: number;
}

/** Opens no connection before the first look; ends all of them when the signal comes. */
export function watchFleet(ways: readonly NodeWay[], options: WatchOptions): FleetWatch {
  const limit = limiter(options.parallel);
  const nodes = ways.map(
    (way): WatchedNode => ({
      session: openSession(way, { ...options, retryMs: 0 }),
      seen: undefined,
      lost: undefined,
      beganMs: undefined,
      lastMs: 0,
    }),
  );
  const close = (): void => {
    for (const { session } of nodes) session.close();
  };
  options.signal?.addEventListener('abort', close, { once: true });
  return {
    look: async (extent) => {
      const there = nodes.filter(({ lost }) => lost === undefined);
      for (const node of there) node.beganMs = undefined;
      const asked = there.map((node) => limit(() => lookAt(node, extent, options)));
      const heard = await waitFor(there, asked, options.patienceMs);
      there.forEach((node, at) => {
        if (!heard.has(node)) giveUp(node);
        void asked[at]?.then(() => callBack(node, options, limit));
      });
      return observationOf(nodes);
    },
    close: () => {
      options.signal?.removeEventListener('abort', close);
      close();
    },
  };
}

/** The nodes that have answered in time, or were lost in time. */
async function waitFor(
  nodes: readonly WatchedNode[],
  asked: readonly Promise<void>[],
  patienceMs: number,
): Promise<ReadonlySet<WatchedNode>> {
  const heard = new Set<WatchedNode>();
  let slowestMs: number | undefined;
  nodes.forEach((node, at) => {
    void asked[at]?.then(() => {
      heard.add(node);
      if (node.lost === undefined) slowestMs = Math.max(slowestMs ?? 0, node.lastMs);
    });
  });
  const isOutwaited = (node: WatchedNode): boolean =>
    slowestMs !== undefined &&
    node.beganMs !== undefined &&
    performance.now() - node.beganMs > Math.max(slowestMs + patienceMs, 2 * slowestMs, 2 * node.lastMs);
  const all = Promise.all(asked);
  const ended = new AbortController();
  const end = (): void => ended.abort();
  void all.then(end, end);
  while (!ended.signal.aborted) {
    const missing = nodes.filter((node) => !heard.has(node));
    if (missing.length > 0 && missing.every(isOutwaited)) break;
    await pause(lookAgainMs, ended.signal);
  }
  if (ended.signal.aborted) await all;
  return new Set(heard);
}

/** Between two looks at the clock while nodes are waited for. */
const lookAgainMs = 50;

/** What it was asked is still under way: should it answer after all, it is there again. */
function giveUp(node: WatchedNode): void {
  const { node: name } = node.session;
  const detail = prose`${named(name)} has gone silent, while others answer.`;
  const failure = diagnose('ssh/timed-out', { subject: nodeSubject(name), detail });
  node.seen = undefined;
  node.lost = {
    observation: { node: name, facts: factsWithoutAnswer('unreachable', failure.summary) },
    failures: [failure],
  };
}

async function lookAt(node: WatchedNode, extent: 'whole' | 'often', options: WatchOptions): Promise<void> {
  const { session, seen } = node;
  const facts = extent === 'whole' || seen === undefined ? options.facts : options.often;
  const { deadlineMs, newToken } = options;
  const beganMs = performance.now();
  node.beganMs = beganMs;
  const looked = await observeSessions([session], { deadlineMs, newToken, facts });
  const observation = looked.nodes[session.node];
  const failures = looked.failures[session.node] ?? [];
  if (observation === undefined) return;
  if (failures.length === 0) node.lastMs = performance.now() - beganMs;
  node.lost = failures.length > 0 ? { observation, failures } : undefined;
  node.seen = failures.length > 0 ? undefined : merged(seen, observation, facts);
}

/** What was asked now, and what was asked before of everything else. */
function merged(
  before: NodeObservation | undefined,
  now: NodeObservation,
  asked: readonly FactName[],
): NodeObservation {
  if (before === undefined) return now;
  const fresh: Facts = Object.fromEntries(asked.map((name) => [name, factNamed(now.facts, name)]));
  return { node: now.node, facts: { ...before.facts, ...fresh } };
}

/** Tries a lost node until it answers; then it takes part in the looks again. */
async function callBack(node: WatchedNode, options: WatchOptions, limit: ReturnType<typeof limiter>): Promise<void> {
  const { signal, retryMs } = options;
  while (node.lost !== undefined) {
    await pause(retryMs, signal);
    if (signal?.aborted === true) return;
    node.session.forget();
    await limit(() => lookAt(node, 'whole', options));
  }
}

function observationOf(nodes: readonly WatchedNode[]): FleetObservation {
  const seen: Record<NodeName, NodeObservation> = Object.create(null);
  const failures: Record<NodeName, readonly Diagnostic[]> = Object.create(null);
  for (const { session, seen: known, lost } of nodes) {
    const observation = known ?? lost?.observation;
    if (observation !== undefined) seen[session.node] = observation;
    if (lost !== undefined) failures[session.node] = lost.failures;
  }
  return { nodes: seen, failures };
}
