import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { GatewayConfig } from '../model/gateway.ts';
import { type PlainAnswer, type Refusal, refusalAnswer, refusals, sendAnswer } from './answers.ts';
import { answerOwn, ownRequest } from './ask-own.ts';
import { makeBodyRoom } from './body/body-room.ts';
import type { BodyLimits } from './body/read-body.ts';
import { type ConnectionLimits, watchConnections } from './connections.ts';
import { writeCounts } from './counts.ts';
import { type Endpoint, makeEndpoints } from './endpoints.ts';
import type { AnswerLimits } from './forward.ts';
import { hashOfKey, isOpenedBy, keyOf, ownCheck } from './keys.ts';
import type { GatewayLog } from './log.ts';
import { type Passing, passOn } from './pass-on.ts';
import { statusAnswer } from './status.ts';

/** Limits that keep one client from blocking all others. */
export interface GatewayLimits extends BodyLimits, ConnectionLimits, AnswerLimits {
  /** The timeouts for receiving the headers and the entire request. */
  readonly headersMs: number;
  readonly bodyMs: number;
  /** How long requests in flight may continue after the gateway is asked to stop. */
  readonly graceMs: number;
}

/** The limits used in production. A prompt of a million tokens has about four million bytes; images are larger. */
export const usualLimits: GatewayLimits = {
  mostBodyBytes: 67_108_864,
  smallBodyBytes: 65_536,
  bodyStepBytes: 262_144,
  bodyRoomBytes: 4 * 67_108_864,
  bodyRoomMs: 60_000,
  headersMs: 15_000,
  bodyMs: 120_000,
  silentMs: 900_000,
  unreadMs: 120_000,
  mostConnections: 1_024,
  mostPerAddress: 256,
  graceMs: 25_000,
};

export interface RunningGateway {
  /** The port on which the gateway listens. */
  readonly port: number;
  /** Saves the counts if they have changed since they were last saved. */
  readonly keepCounts: () => Promise<void>;
  /** Refuses new requests, lets those in flight finish, and saves the counts. */
  readonly stop: () => Promise<void>;
}

/** Requests to these paths are forwarded; the gateway handles all other requests itself. */
const passedPaths: readonly string[] = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/messages',
  '/v1/responses',
];

/**
 * Starts the gateway.
 * @throws Error if the address is in use
 */
export async function startGateway(
  config: GatewayConfig,
  limits: GatewayLimits = usualLimits,
  log: GatewayLog = () => undefined,
): Promise<RunningGateway> {
  const endpoints = makeEndpoints(config);
  const { version, ownFile } = config;
  const isOwn = ownCheck(ownFile);
  const leaving = new AbortController();
  const room = makeBodyRoom(
    limits.bodyRoomBytes,
    limits.mostBodyBytes,
    endpoints.map(({ upstream }) => upstream.placement),
  );
  let strangers = 0;

  async function answer(request: IncomingMessage, passing: Passing): Promise<PlainAnswer | undefined> {
    const url = request.url ?? '/';
    if (!URL.canParse(url, 'http://gateway')) return refusalAnswer(refusals.badUrl());
    const address = new URL(url, 'http://gateway');
    const path = address.pathname;
    // These requests come from the node itself: from meshwright or from a person who can read the node's secret.
    if (path.startsWith('/gateway/') && (await isOwn(request.headers))) {
      const own = ownRequest(address, endpoints);
      if (own !== undefined) return answerOwn(own, request, passing);
      return statusAnswer(path, endpoints, { strangers, ...(version === undefined ? {} : { version }) });
    }
    if (leaving.signal.aborted) return refusalAnswer(refusals.leaving());
    const open = await openEndpoints(endpoints, request);
    if (open.length === 0) {
      strangers += 1;
      return refusalAnswer(refusals.noKey());
    }
    if (path === '/v1/models' || path.startsWith('/v1/models/')) return modelsAnswer(request, path, open);
    if (!passedPaths.includes(path)) return refusalAnswer(refusals.noSuchPath(path));
    if (request.method !== 'POST') return refusalAnswer(refusals.wrongMethod(request.method ?? ''));
    const refused = await passOn(request, path, open, passing);
    return refused === undefined ? undefined : refusalAnswer(refused);
  }

  const server = createServer(
    { headersTimeout: limits.headersMs, requestTimeout: limits.bodyMs, noDelay: true },
    (request, response) => void serve(request, response),
  );
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The response must not wait for the rest of an unread request body.
    response.on('close', () => request.resume());
    try {
      const said = await answer(request, { response, limits, room, leaving: leaving.signal });
      if (said !== undefined) sendAnswer(response, said);
    } catch (error) {
      log({ kind: 'request-failed', error: error instanceof Error ? error.name : 'error' });
      sendAnswer(response, refusalAnswer(refusals.down('The gateway', 'it failed while it handled this request.')));
    }
  }
  const close = watchConnections(server, limits, config.proxies);
  const port = await listen(server, config.listen);
  const keepCounts = countsKeeper(config.countsFile, endpoints);
  return {
    port,
    keepCounts,
    stop: async () => {
      leaving.abort();
      await close(limits.graceMs);
      await keepCounts();
    },
  };
}

function listen(server: Server, { address, port }: GatewayConfig['listen']): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });
}

function countsKeeper(path: string, endpoints: readonly Endpoint[]): () => Promise<void> {
  let written = '';
  return async () => {
    const counts = new Map(endpoints.map((endpoint) => [endpoint.upstream.placement, endpoint.counts()]));
    const text = JSON.stringify([...counts]);
    if (text === written) return;
    await writeCounts(path, counts);
    written = text;
  };
}

/** The placements that a request's key gives access to. An unreadable key file affects only its own placement. */
async function openEndpoints(
  endpoints: readonly Endpoint[],
  { headers }: IncomingMessage,
): Promise<readonly Endpoint[]> {
  const hash = hashOfKey(keyOf(headers));
  const all = await Promise.all(
    endpoints.map(async (endpoint) => ({ endpoint, isOpen: isOpenedBy(hash, await endpoint.keys()) })),
  );
  return all.filter(({ isOpen }) => isOpen).map(({ endpoint }) => endpoint);
}

/** Handles `GET /v1/models` and `GET /v1/models/NAME`; shows only models that the request's key gives access to. */
function modelsAnswer({ method }: IncomingMessage, path: string, open: readonly Endpoint[]): PlainAnswer {
  if (method !== 'GET') return refusalAnswer(refusals.wrongMethod(method ?? ''));
  const models = open.map(({ upstream }) => ({
    id: upstream.servedName,
    object: 'model',
    created: 0,
    owned_by: 'meshwright',
  }));
  if (path === '/v1/models') return { status: 200, body: { object: 'list', data: models } };
  const asked = decodeName(path.slice('/v1/models/'.length));
  const found = models.find(({ id }) => id === asked);
  return found === undefined ? refusalAnswer(unknownModel(asked, open)) : { status: 200, body: found };
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const unknownModel = (asked: string, open: readonly Endpoint[]): Refusal =>
  refusals.unknownModel(
    asked,
    open.map(({ upstream }) => upstream.servedName),
  );
