import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { withAnySignal } from '../any-signal.ts';
import { withAnswer } from '../counts.ts';
import type { Endpoint } from '../endpoints.ts';
import { type AnswerLimits, type Forwarded, forward } from '../forward.ts';
import type { Replica } from './replicas.ts';
import { type Lane, type Miss, passToLane, spread } from './spread.ts';
import type { Turn } from './turns.ts';

/** A client's request, already read and checked. */
export interface Way {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The request body in chunks, with its model name replaced by this one. */
  readonly bodyFor: (model: string) => readonly Buffer[];
  /** Frees the body's memory when the body is no longer needed. */
  readonly freeBody: () => void;
  readonly isStreamed: boolean;
  readonly arrivedAtMs: number;
  readonly response: ServerResponse;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /** Aborted when the gateway is asked to stop. */
  readonly leaving: AbortSignal;
  readonly limits: AnswerLimits;
}

/** The header that marks a request from another replica's gateway. */
const passedHeader = 'meshwright-replica';

/** Forwards a request to this node's runtime or, if the model has several replicas, to one of them. */
export async function passToReplica(way: Way): Promise<Miss | undefined> {
  const { endpoint, headers, gone, leaving } = way;
  // A request from another replica is not forwarded again: two replicas that are down could send it back and forth.
  const others = headers[passedHeader] === undefined ? await endpoint.others() : [];
  return withAnySignal([gone, leaving], (signal) =>
    others.length === 0
      ? passToLane(ownLane(way, true), signal)
      : spread([ownLane(way, false), ...others.map((one) => replicaLane(one, way))], signal),
  );
}

const ownLane = (way: Way, isOnly: boolean): Lane => ({
  name: way.endpoint.upstream.placement,
  turns: way.endpoint.turns,
  most: way.endpoint.upstream.maxRequests,
  isReady: true,
  take: (signal) => takeTurn(way, signal),
  pass: () => passToRuntime(way, isOnly),
});

/** A request counts as in flight while it waits for its turn; it is served even if the gateway closes meanwhile. */
async function takeTurn({ endpoint, gone, leaving }: Way, signal: AbortSignal): Promise<Turn | Miss> {
  const before = await endpoint.closedBy();
  if (before !== undefined) return { kind: 'closed', reason: before };
  const turnedAway = new AbortController();
  const coming = withAnySignal([signal, turnedAway.signal], endpoint.turns.take);
  // The request counts as in flight only from here on. The gateway may have been closed since the first check.
  const after = await endpoint.closedBy();
  if (after !== undefined) turnedAway.abort();
  const turn = await coming;
  if (turn !== undefined && after === undefined && !gone.aborted && !leaving.aborted) return turn;
  turn?.giveBack();
  return after === undefined ? missedTurn({ gone, leaving }) : { kind: 'closed', reason: after };
}

function missedTurn({ gone, leaving }: Pick<Way, 'gone' | 'leaving'>): Miss {
  if (gone.aborted) return { kind: 'gone', reason: 'its client is gone.' };
  if (leaving.aborted) return { kind: 'leaving', reason: 'its gateway is being restarted.' };
  return { kind: 'full', reason: 'too many requests wait there.' };
}

async function passToRuntime(way: Way, isOnly: boolean): Promise<Miss | undefined> {
  const { endpoint } = way;
  const passage = endpoint.flow.begin(way.isStreamed);
  try {
    const { model, cancels } = endpoint.upstream;
    const canCancel = cancels === 'always' || (cancels === 'streams' && way.isStreamed);
    const outcome = await forward({
      ...asked(way),
      upstream: endpoint.upstream,
      isCorrected: true,
      canCancel,
      body: () => way.bodyFor(model),
      isRepeatable: !isOnly,
      passage,
    });
    return accountFor(outcome, way);
  } finally {
    passage.end();
  }
}

const asked = ({ path, headers, response, gone, limits, freeBody }: Way) => ({
  path,
  accept: headers.accept ?? '*/*',
  freeBody,
  response,
  gone,
  limits,
  now: () => performance.now(),
});

function accountFor(outcome: Forwarded, { endpoint, arrivedAtMs }: Way): Miss | undefined {
  if (outcome.kind === 'down') return { kind: 'down', reason: outcome.reason };
  if (outcome.kind !== 'answered') {
    endpoint.count((counts) => ({ ...counts, failed: counts.failed + 1 }));
    return undefined;
  }
  const { tokens, firstAtMs, endAtMs } = outcome;
  const times =
    firstAtMs === undefined ? {} : { firstTokenMs: firstAtMs - arrivedAtMs, generatingMs: endAtMs - firstAtMs };
  endpoint.count((counts) => withAnswer(counts, { tokens, ...times }));
  return undefined;
}

function replicaLane(replica: Replica, way: Way): Lane {
  const { gone, leaving } = way;
  return {
    name: replica.at.placement,
    turns: replica.turns,
    most: way.endpoint.upstream.maxRequests,
    isReady: replica.isReady(),
    take: async (signal) => (await replica.turns.take(signal)) ?? missedTurn({ gone, leaving }),
    pass: () => passToOther(replica, way),
  };
}

/** Other replicas count their own responses, which say nothing about this node's runtime. */
const noPassage = { came: () => undefined, hold: () => undefined, end: () => undefined };

async function passToOther(replica: Replica, way: Way): Promise<Miss | undefined> {
  const { upstream } = way.endpoint;
  const { authorization, 'x-api-key': key } = way.headers;
  const headers = {
    [passedHeader]: upstream.placement,
    ...(authorization === undefined ? {} : { authorization }),
    ...(typeof key === 'string' ? { 'x-api-key': key } : {}),
  };
  const outcome = await forward({
    ...asked(way),
    upstream,
    canCancel: true,
    replica: { ...replica.at, headers },
    body: () => way.bodyFor(upstream.servedName),
    isRepeatable: true,
    passage: noPassage,
  });
  if (outcome.kind === 'refused') {
    replica.refused();
    return refusedThere(outcome.code);
  }
  if (outcome.kind !== 'down') return undefined;
  if (outcome.isUnreached === true) replica.lost();
  else replica.refused();
  return { kind: 'down', reason: outcome.reason };
}

/** Translates another gateway's refusal for this gateway's client. */
function refusedThere(code: string): Miss {
  if (code === 'too_many_requests') return { kind: 'full', reason: 'too many requests wait there.' };
  if (code === 'closed') return { kind: 'closed', reason: 'it is not accepting requests.' };
  if (code === 'mesh_down') return { kind: 'down', reason: 'its runtime gives no answer.' };
  return { kind: 'down', reason: 'its gateway does not serve this model with this key yet.' };
}
