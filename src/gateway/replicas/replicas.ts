import { connect } from 'node:net';
import { jsonObject, parsedJson } from '../../model/digest.ts';
import type { GatewayReplica } from '../../model/gateway.ts';
import { type FileSight, watchedFile } from '../watched-file.ts';
import { makeTurns, type Turns } from './turns.ts';

/** This gateway's view of another replica. */
export interface Replica {
  readonly at: GatewayReplica;
  /** The turns for requests that this gateway sends to the replica. */
  readonly turns: Turns;
  /** False while the replica is unreachable, and briefly after it refuses a request. */
  readonly isReady: () => boolean;
  /** Records a failed connection. Requests avoid the replica until a connection succeeds again. */
  readonly lost: () => void;
  readonly refused: () => void;
  /** Stops checking the replica. */
  readonly drop: () => void;
}

/** How long requests avoid a replica that has refused a request, for example because it is loading its model. */
const refusedMs = 2_000;

/** How often the gateway retries an unreachable replica, and the timeout for each attempt. */
const checkEveryMs = 3_000;
const checkMs = 2_000;

/** Parses the list of the other replicas; empty if the file is missing or invalid. */
function parseReplicas(sight: FileSight): readonly GatewayReplica[] {
  const document = sight.kind === 'text' ? parsedJson(sight.text) : undefined;
  return Array.isArray(document) ? document.flatMap(replicaIn) : [];
}

function replicaIn(value: unknown): readonly GatewayReplica[] {
  const { placement, host, port } = jsonObject(value) ?? {};
  const isWhole = typeof placement === 'string' && typeof host === 'string' && Number.isInteger(port);
  return isWhole ? [{ placement, host, port: Number(port) }] : [];
}

/**
 * Returns a function that reads the other replicas from a file. If the file changes, the replicas that are still listed
 * keep their requests.
 *
 * @param path undefined if there are no other replicas
 */
export function watchReplicas(
  path: string | undefined,
  [most, mostWaiting]: readonly [most: number, mostWaiting: number],
): () => Promise<readonly Replica[]> {
  if (path === undefined) return () => Promise.resolve([]);
  let known = new Map<string, Replica>();
  return watchedFile(path, (sight) => {
    const next = new Map<string, Replica>();
    for (const at of parseReplicas(sight)) {
      const key = JSON.stringify(at);
      next.set(key, known.get(key) ?? makeReplica(at, makeTurns(most, mostWaiting)));
    }
    for (const [key, one] of known) if (!next.has(key)) one.drop();
    known = next;
    return [...known.values()];
  });
}

/** Makes a replica that counts as ready until a request fails. */
function makeReplica(at: GatewayReplica, turns: Turns): Replica {
  let isLost = false;
  let isDropped = false;
  let notBeforeMs = 0;
  const check = async (): Promise<void> => {
    if (isDropped) return;
    if (await canConnect(at)) isLost = false;
    else later();
  };
  // The gateway can exit without waiting for these checks.
  const later = (): void => void setTimeout(() => void check(), checkEveryMs).unref();
  return {
    at,
    turns,
    isReady: () => !isLost && performance.now() >= notBeforeMs,
    lost: () => {
      if (isLost) return;
      isLost = true;
      later();
    },
    refused: () => {
      notBeforeMs = performance.now() + refusedMs;
    },
    drop: () => {
      isDropped = true;
    },
  };
}

function canConnect({ host, port }: GatewayReplica): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: checkMs }).unref();
    const end = (isMade: boolean) => () => {
      socket.destroy();
      resolve(isMade);
    };
    socket.on('connect', end(true)).on('timeout', end(false)).on('error', end(false));
  });
}
