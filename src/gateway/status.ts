import type { EndpointStatus } from '../model/gateway.ts';
import { type PlainAnswer, refusalAnswer, refusals } from './answers.ts';
import { clientsInFlight } from './ask-own.ts';
import type { Endpoint } from './endpoints.ts';

export interface OwnSight {
  /** The number of requests without an accepted key. */
  readonly strangers: number;
  /** The version of the gateway's files. */
  readonly version?: string;
}

/** Handles `/gateway/status`, and `/gateway/in-flight/PLACEMENT`, which returns the number of requests in flight. */
export async function statusAnswer(
  path: string,
  endpoints: readonly Endpoint[],
  { strangers, version }: OwnSight,
): Promise<PlainAnswer> {
  const asked = /^\/gateway\/in-flight\/([^/]+)$/.exec(path)?.[1];
  const endpoint = endpoints.find(({ upstream }) => upstream.placement === asked);
  if (endpoint !== undefined) return { status: 200, body: inFlight(endpoint) };
  if (path !== '/gateway/status') return refusalAnswer(refusals.noSuchPath(path));
  const placements = await Promise.all(endpoints.map(endpointStatus));
  return { status: 200, body: { formatVersion: 1, strangers, version, placements } };
}

/** The number of requests in flight: those that were admitted but do not have a complete response yet. */
function inFlight(endpoint: Endpoint): number {
  const { running, waiting } = clientsInFlight(endpoint);
  return running + waiting;
}

async function endpointStatus(endpoint: Endpoint): Promise<EndpointStatus & { readonly servedName: string }> {
  const { upstream, flow, closedBy, counts } = endpoint;
  const reason = await closedBy();
  return {
    placement: upstream.placement,
    servedName: upstream.servedName,
    ...(reason === undefined ? {} : { closed: reason }),
    ...clientsInFlight(endpoint),
    ...flow.sight(),
    counts: counts(),
  };
}
