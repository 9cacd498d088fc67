import type { EndpointStatus } from '../model/gateway.ts';
import { type PlainAnswer, refusalAnswer, refusals } from './answers.ts';
import { clientsInside } from './ask-own.ts';
import type { Endpoint } from './endpoints.ts';

/** The gateway's report about itself. */
export interface OwnSight {
  /** Requests without an accepted key. */
  readonly strangers: number;
  /** The version of its files. */
  readonly version?: string;
}

/** For the node itself: `GET /doorman/status`, and the number of requests in flight by `/doorman/inside/PLACEMENT`. */
export async function statusAnswer(
  path: string,
  doors: readonly Endpoint[],
  { strangers, version }: OwnSight,
): Promise<PlainAnswer> {
  const asked = /^\/doorman\/inside\/([^/]+)$/.exec(path)?.[1];
  const door = doors.find(({ upstream }) => upstream.placement === asked);
  if (door !== undefined) return { status: 200, body: inside(door) };
  if (path !== '/doorman/status') return refusalAnswer(refusals.noSuchPath(path));
  const placements = await Promise.all(doors.map(doorStatus));
  return { status: 200, body: { formatVersion: 1, strangers, version, placements } };
}

/** The requests in flight: admitted, and not completely answered yet. */
function inside(door: Endpoint): number {
  const { running, waiting } = clientsInside(door);
  return running + waiting;
}

async function doorStatus(door: Endpoint): Promise<EndpointStatus & { readonly servedName: string }> {
  const { upstream, flow, closedBy, counts } = door;
  const reason = await closedBy();
  return {
    placement: upstream.placement,
    servedName: upstream.servedName,
    ...(reason === undefined ? {} : { closed: reason }),
    ...clientsInside(door),
    ...flow.sight(),
    counts: counts(),
  };
}
