import { connect } from 'node:net';
import { jsonObject, parsedJson } from '../../model/digest.ts';
import type { GatewayReplica } from '../../model/gateway.ts';
import { type FileSight, watchedFile } from '../watched-file.ts';
import { makeTurns, type Turns } from './turns.ts';

/** What this gateway knows about another replica. */
export interface Replica {
  readonly at: GatewayReplica;
  /** The turns of the requests that this gateway sends to the replica. */
  readonly turns: Turns;
  /** False while the replica is unreachable, and for a moment after it refused a request. */
  readonly isReady: () => boolean;
  /** Records a failed connection. Until a connection succeeds again, requests avoid the replica. */
  readonly lost: () => void;
  readonly refused: () => void;
  /** Stops checking the replica. */
  readonly drop: () => void;
}

/** How long requests avoid a replica that refused one, for example because it is loading its model. */
const refusedMs = 2_000;

/** How often an unreachable replica is tried again, and how long each attempt may take. */
const checkEveryMs = 3_000;
const checkMs = 2_000;

/** The other replicas listed in a file; none if the file is missing or invalid. */
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
 * Returns a function that reads the other replicas from a file. A replica that remains in the file after a change keeps
 * its requests.
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

/** A replica that counts as ready until a request fails. */
function makeReplica(at: GatewayReplica, turns: Turns): Replica {
  let isLost = false;
  let isDropped = false;
  let notBeforeMs = 0;
  const check = async (): Promise<void> => {
    if (isDropped) return;
    if (await canConnect(at)) isLost = false;
    else later();
  };
  // A gateway that is asked to stop does not wait for these checks.
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
