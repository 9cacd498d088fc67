import { join } from 'node:path';
import type { GatewayConfig, GatewayCounts, GatewayUpstream } from '../model/gateway.ts';
import { countsFrom, readCounts } from './counts.ts';
import { type Flow, makeFlow } from './flow.ts';
import { type AcceptedKeys, parseKeys } from './keys.ts';
import { makeOwnRequests } from './own-count.ts';
import { type Replica, watchReplicas } from './replicas/replicas.ts';
import { makeTurns, type Turns } from './replicas/turns.ts';
import { type FileSight, watchedFile } from './watched-file.ts';

/** A placement behind the gateway, with its current state. */
export interface Endpoint {
  readonly upstream: GatewayUpstream;
  readonly turns: Turns;
  readonly flow: Flow;
  /** The node's own requests at the runtime, and those that wait for their turn. */
  readonly own: ReturnType<typeof makeOwnRequests>;
  readonly ownWaiting: ReturnType<typeof makeOwnRequests>;
  /** The keys that the placement accepts. */
  readonly keys: () => Promise<AcceptedKeys>;
  /** Why the placement is closed; undefined while it accepts requests. */
  readonly closedBy: () => Promise<string | undefined>;
  /** The other replicas of the model. */
  readonly others: () => Promise<readonly Replica[]>;
  readonly counts: () => GatewayCounts;
  readonly count: (next: (counts: GatewayCounts) => GatewayCounts) => void;
}

/** The maximum queue length per parallel request at the runtime. Further requests are refused; clients can retry. */
const waitingPerTurn = 64;
const leastWaiting = 256;
const longestReason = 500;

/** The gateway's placements in the order of the configuration file, with the counts from earlier runs. */
export function makeEndpoints({
  upstreams,
  keysFolder,
  closedFolder,
  replicasFolder,
  countsFile,
}: GatewayConfig): readonly Endpoint[] {
  const nowEpochSeconds = Math.floor(Date.now() / 1_000);
  const before = readCounts(countsFile);
  return upstreams.map((upstream) => {
    let counts = before.get(upstream.placement) ?? countsFrom(nowEpochSeconds);
    const { placement, maxRequests } = upstream;
    const places = [maxRequests, Math.max(leastWaiting, maxRequests * waitingPerTurn)] as const;
    return {
      upstream,
      turns: makeTurns(...places),
      flow: makeFlow(() => performance.now()),
      own: makeOwnRequests(() => performance.now()),
      ownWaiting: makeOwnRequests(() => performance.now()),
      keys: watchedFile(join(keysFolder, placement), parseKeys),
      closedBy: watchedFile(join(closedFolder, placement), closingReason),
      others: watchReplicas(replicasFolder && join(replicasFolder, placement), places),
      counts: () => counts,
      count: (next) => {
        counts = next(counts);
      },
    };
  });
}

/** Reads the reason from the file that closes a placement. An unreadable file also closes the placement. */
export function closingReason(sight: FileSight): string | undefined {
  if (sight.kind === 'absent') return undefined;
  if (sight.kind === 'unreadable') return 'it was closed by its operator.';
  const line = sight.text.split('\n')[0]?.trim() ?? '';
  return line === '' ? 'it was closed by its operator.' : line.slice(0, longestReason);
}
