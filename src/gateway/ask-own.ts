import type { IncomingMessage } from 'node:http';
import type { EndpointStatus } from '../model/gateway.ts';
import { type PlainAnswer, refusalAnswer, refusals } from './answers.ts';
import { type RequestBody, readBody } from './body/read-body.ts';
import type { Endpoint } from './endpoints.ts';
import { forward } from './forward.ts';
import { bodyRefusal, clientGone, type Passing } from './pass-on.ts';
import { withTimeLimit } from './time-limit.ts';

/** Counts the client requests that are running or waiting for their turn; excludes the node's own requests. */
export function clientsInFlight({ turns, own, ownWaiting }: Endpoint): Pick<EndpointStatus, 'running' | 'waiting'> {
  const { running, waiting } = turns.counts();
  return { running: Math.max(0, running - own.count()), waiting: Math.max(0, waiting - ownWaiting.count()) };
}

/**
 * No single token takes longer than this. If one of the node's own requests has been running for longer, no further
 * ones are forwarded to the mesh.
 */
const longestOwnMs = 20_000;

/** A token this recent already proves that the mesh is working, so a request from the node would add nothing. */
const recentMs = 10_000;

/** The maximum time that one of the node's own requests waits for its turn. */
const longestWaitMs = 3_600_000;

/** The status code for a request that is not forwarded because of other requests. @see RFC 8470, 425 (Too Early) */
const notAskedStatus = 425;

/** A request that meshwright on the node sends to `/gateway/ask/PLACEMENT/PATH`. */
export interface OwnRequest {
  readonly endpoint: Endpoint;
  /** The path with its leading slash; empty if the request asks for the number of running client requests. */
  readonly path: string;
}

/** Parses the URL of a request from meshwright; undefined for other URLs and for other gateways' placements. */
export function ownRequest({ pathname, search }: URL, endpoints: readonly Endpoint[]): OwnRequest | undefined {
  const [, placement, path = ''] = /^\/gateway\/ask\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
  const endpoint = endpoints.find(({ upstream }) => upstream.placement === placement);
  return endpoint === undefined ? undefined : { endpoint, path: path === '' ? '' : `${path}${search}` };
}

/**
 * Forwards one of the node's own requests to a runtime when the request's turn comes. The request therefore never runs
 * in parallel with a client's request; two parallel requests can bring down a mesh (mlx-lm issue 1737). The request is
 * not counted, and it is forwarded even if the placement is closed. Responds with 425 and the number of client requests
 * in two cases: the turn does not come within `meshwright-wait` milliseconds, or `meshwright-proof` is `traffic` and a
 * client recently received a token.
 */
export async function answerOwn(
  { endpoint, path }: OwnRequest,
  request: IncomingMessage,
  passing: Passing,
): Promise<PlainAnswer | undefined> {
  if (path === '') return { status: 200, body: clientsInFlight(endpoint).running };
  if (endpoint.upstream.ownPaths?.includes(path) !== true) return refusalAnswer(refusals.noSuchPath(path));
  if (request.method !== 'POST') return refusalAnswer(refusals.wrongMethod(request.method ?? ''));
  const gone = clientGone(passing.response);
  const body = await readBody(request, { ...passing, placements: [endpoint.upstream.placement], gone });
  if (body.kind === 'gone') return undefined;
  if (body.kind !== 'object') return refusalAnswer(bodyRefusal(body, passing.limits.mostBodyBytes));
  try {
    return await passOwn({ endpoint, path }, { request, body, gone }, passing);
  } finally {
    body.free();
  }
}

interface OwnBody {
  readonly request: IncomingMessage;
  readonly body: Extract<RequestBody, { kind: 'object' }>;
  readonly gone: AbortSignal;
}

async function passOwn(
  { endpoint, path }: OwnRequest,
  { request, body, gone }: OwnBody,
  { response, limits, leaving }: Passing,
): Promise<PlainAnswer | undefined> {
  const { 'meshwright-proof': proof, 'meshwright-wait': wait } = request.headers;
  // The mesh may have been restarted: a stop closes the gateway, and a start requests a token before reopening it.
  if ((await endpoint.closedBy()) !== undefined) endpoint.flow.forgetToken();
  if (proof === 'traffic' && isProven(endpoint)) return notAsked(endpoint);
  if ((endpoint.own.oldestMs() ?? 0) > longestOwnMs) return notAsked(endpoint);
  const waitMs = Math.min(Math.max(0, Number(wait) || 0), longestWaitMs);
  const endWait = endpoint.ownWaiting.begin();
  const turn = await withTimeLimit(waitMs, [gone, leaving], endpoint.turns.take).finally(endWait);
  if (turn === undefined) return notAsked(endpoint);
  const end = endpoint.own.begin();
  try {
    const outcome = await forward({
      upstream: endpoint.upstream,
      canCancel: endpoint.upstream.cancels === 'always',
      path,
      accept: '*/*',
      body: () => [body.contents()?.bytes ?? Buffer.alloc(0)],
      freeBody: body.free,
      response,
      gone,
      limits: { ...limits, silentMs: Math.max(limits.silentMs, 2 * waitMs) },
      now: () => performance.now(),
      passage: { came: () => undefined, hold: () => undefined, end: () => undefined },
    });
    return outcome.kind === 'down'
      ? refusalAnswer(refusals.down(endpoint.upstream.servedName, outcome.reason))
      : undefined;
  } finally {
    end();
    turn.giveBack();
  }
}

const isProven = ({ flow }: Endpoint): boolean => (flow.sight().lastTokenMsAgo ?? Number.POSITIVE_INFINITY) <= recentMs;

function notAsked(endpoint: Endpoint): PlainAnswer {
  const { lastTokenMsAgo } = endpoint.flow.sight();
  const isRecent = lastTokenMsAgo !== undefined && lastTokenMsAgo <= recentMs;
  return {
    status: notAskedStatus,
    body: {
      ...clientsInFlight(endpoint),
      ...(isRecent ? { lastTokenMsAgo } : {}),
      ...(endpoint.own.count() === 0 ? {} : { ownMs: endpoint.own.oldestMs() }),
    },
  };
}
