import { firstFailingRank, rankWords } from '../../../drivers/classify-log.ts';
import type { FailureSignature, RuntimeDriver } from '../../../drivers/contract/driver.ts';
import { changedSettings } from '../../../model/declared-settings.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import { exitWords } from '../../../model/facts/daemons.ts';
import type { NodeObservation, RecordedRank, TokenResult } from '../../../model/facts/fact-values.ts';
import type { EndpointTraffic } from '../../../model/gateway.ts';
import { given } from '../../../model/given.ts';
import { seenValue, type UnknownReason } from '../../../model/known.ts';
import { everyNodeText, linkEndText, type NodeName, nodeName } from '../../../model/node.ts';
import { thunderboltFact } from '../../cables/fact.ts';
import { readValue } from '../../fact.ts';
import { gatewaysFact } from '../../records/gateways-fact.ts';
import { placementsFact } from '../observed/fact.ts';
import { type MeshState, meshTable, type SeenMesh } from '../state/mesh-reading.ts';
import { isRunning, type NodeRank, type SeenOnNode, type SeenRank, seenRanks, seeRank } from './rank-states.ts';

/** The full speed of a Thunderbolt 5 cable. @see apple-platform: Thunderbolt 5 */
const fullBitsPerSecond = 80_000_000_000;

/** Possible explanations of a slow mesh, as sentences: the transport of its ranks, and slow cables between them. */
export function slowWords(
  placement: DesiredPlacement,
  { thunderbolt }: Pick<DesiredFleet, 'thunderbolt'>,
  nodes: Readonly<Record<string, NodeObservation>>,
  driver: Pick<RuntimeDriver, 'observe'>,
): readonly string[] {
  const recorded = placement.nodes.flatMap((node) => readValue(nodes[node]?.facts, placementsFact) ?? []);
  const said = recorded.filter((rank) => rank.placement === placement.name).map((rank) => rank.said);
  const transport = seenTransport(driver, said);
  const slow = thunderbolt.links
    .filter(({ ends }) => ends.every(({ node }) => placement.nodes.includes(node)))
    .flatMap(({ ends }) => ends)
    .flatMap((end) => {
      const receptacles = readValue(nodes[end.node]?.facts, thunderboltFact);
      const seen = receptacles?.find(({ receptacle }) => receptacle === end.receptacle)?.linkBitsPerSecond;
      return seen !== undefined && seen < fullBitsPerSecond
        ? [`The cable at ${linkEndText(end)} runs at ${seen / 1_000_000_000} Gb/s.`]
        : [];
    });
  return [...transportWords(transport, placement.transport), ...slow];
}

function transportWords(seen: 'rdma' | 'tcp' | undefined, wanted: 'rdma' | 'tcp'): readonly string[] {
  if (seen === undefined) return wanted === 'rdma' ? ['No log shows whether its ranks use rdma.'] : [];
  const but = seen === wanted ? '' : `, but the file says ${wanted}`;
  return [`Its ranks use ${seen}${but}.`];
}

/** A placement's state in words: `serving`, `no rank runs`, `hung: no token: timed out`. */
export function meshWords({ state, seen, evidence }: Mesh): string {
  switch (state) {
    case 'serving':
      return seen === 'gave-token' ? 'serving' : `serving, ${evidence}`;
    case 'not-placed':
      return 'never started';
    case 'stopped':
      return evidence;
    case 'changed':
      return seen === 'tcp-not-rdma' ? `running, but ${evidence}` : `running with old settings: ${evidence}`;
    case 'hung':
    case 'dead':
    case 'partial':
    case 'unknown':
      return `${state}: ${evidence}`;
  }
}

export interface MeshFailure extends Pick<FailureSignature, 'meaning' | 'action' | 'cure' | 'isUnreached'> {
  readonly node: NodeName;
  /** `rank 1 on studio-2 exited (1)`. */
  readonly rank: string;
  readonly line: string;
}

/** The rank that failed first and the meaning of its log line; `undefined` if no log has a known line. */
export function meshFailure(
  { ranks }: Pick<Mesh, 'ranks'>,
  { signatures }: Pick<RuntimeDriver, 'signatures'>,
): MeshFailure | undefined {
  const logs = ranks.flatMap(({ node, seen }, rank) => {
    if (seen.kind === 'unknown') return [];
    const { record, state, lastExit } = seen.value;
    const exit = state === 'exited' ? lastExit : undefined;
    return [{ node, rank, lines: record?.said ?? [], ...given({ exit }) }];
  });
  const failing = firstFailingRank(signatures, logs);
  if (failing?.failure === undefined) return undefined;
  const { said, failure } = failing;
  const { meaning, action, cure, isUnreached } = failure.signature;
  const { node } = said;
  return { node, rank: rankWords(said), line: failure.line, meaning, action, cure, ...given({ isUnreached }) };
}

interface ExpectedMesh {
  readonly placement: string;
  /** In rank order. */
  readonly nodes: readonly NodeName[];
  readonly digest: string;
  /** Its settings in the form that a start records, so that differences can be named. */
  readonly declared?: string;
  /** The names of runtime versions, by the first digits of their digests. */
  readonly versions?: Readonly<Record<string, string>>;
  readonly firstTokenMs?: number;
  /** The desired transport and the driver that reads it from logs; absent if logs are not read. */
  readonly talk?: {
    readonly transport: 'rdma' | 'tcp';
    readonly driver: Pick<RuntimeDriver, 'observe' | 'droppedStatus'>;
  };
}

type UnseenMesh = { [S in SeenMesh]: (typeof meshTable)[S]['state'] extends 'unknown' ? S : never }[SeenMesh];

/**
 * `evidence`: the reason for the state, to follow `<state>: `; for `unknown`, what could not be observed. `reason`: the
 * reason of the first unobserved rank, or of the token.
 */
type Verdict = { readonly evidence: string } & (
  | { readonly seen: Exclude<SeenMesh, UnseenMesh> }
  | { readonly seen: UnseenMesh; readonly reason: UnknownReason }
);

/** A placement as observed; see {@link meshTable}. */
export type Mesh = Verdict & {
  readonly state: MeshState;
  readonly placement: string;
  /**
   * Shows whether the last start with these settings in this boot session used TCP although the file says rdma; `again`
   * if the start before did too and all ranks run, so that a third start would not help.
   */
  readonly usedTcp: 'no' | 'once' | 'again';
  /** The highest generation on any node, former nodes included; 0 if there is none. */
  readonly generation: number;
  /**
   * True if a stop may interrupt a client. That is so if its endpoint returned a token, if a request is in flight and
   * no rank of that start has exited, or if every rank has joined but no token came in time. The last case may be a
   * hung mesh or one with long requests.
   */
  readonly isAnswering: boolean;
  /** In rank order. */
  readonly ranks: readonly NodeRank[];
};

interface RankOnNode extends SeenOnNode {
  readonly rank: number;
}

export function readMesh(expected: ExpectedMesh, nodes: Readonly<Record<string, NodeObservation>>): Mesh {
  const ranks = expected.nodes.map((node) => seeRank(node, expected.placement, nodes[node]?.facts));
  const records = recordsOf(expected.placement, nodes);
  const traffic = trafficAt(expected, nodes, ranks);
  const isStuck = traffic?.kind === 'stuck';
  const verdict = verdictOn(expected, ranks, traffic);
  return {
    placement: expected.placement,
    ...verdict,
    state: meshTable[verdict.seen].state,
    generation: Math.max(0, ...records.map(({ generation }) => generation)),
    usedTcp: usedTcp(expected, ranks),
    isAnswering:
      records.some(({ token }) => token.kind === 'answered') ||
      (!isStuck && (mayBeBusy(ranks) || hasLivingRequest(expected.placement, nodes, records))),
    ranks,
  };
}

/** Logs from an earlier boot session or with other settings do not count. */
function usedTcp(expected: ExpectedMesh, ranks: readonly NodeRank[]): Mesh['usedTcp'] {
  const seen = seenRanks(ranks);
  const isLast = ({ seen: { record, starts } }: SeenOnNode): boolean =>
    record?.digest === expected.digest && starts.kind === 'known' && starts.value > 0;
  if (expected.talk?.transport !== 'rdma' || seen.length < ranks.length || !seen.every(isLast)) return 'no';
  if (talkedOver(expected, seen) !== 'tcp') return 'no';
  return seen.every(({ seen }) => isRunning(seen) && seen.record?.lastTalked === 'tcp') ? 'again' : 'once';
}

/** True if every rank has joined but no token came in time: unknown is never no. */
const mayBeBusy = (ranks: readonly NodeRank[]): boolean =>
  ranks.every(({ seen }) => seenValue(seen)?.state === 'joined') &&
  ranks.some(({ seen }) => isLate(seenValue(seen)?.record?.token));

/**
 * True if a request in flight may still get its answer. An exited rank rules that out for its whole start: the request
 * may be our own, waiting in a server that returns no more tokens. But a client that has just received a token counts,
 * because the Macs were not observed at the same moment.
 */
function hasLivingRequest(
  placement: string,
  nodes: Readonly<Record<string, NodeObservation>>,
  records: readonly RecordedRank[],
): boolean {
  const ended = Object.entries(nodes).flatMap(([node, { facts }]) => {
    const { seen } = seeRank(nodeName(node), placement, facts);
    return seen.kind === 'known' && hasEnded(seen.value) ? (seen.value.record ?? []) : [];
  });
  const isOfStart = (one: Omit<RecordedRank, 'token'>) => (other: RecordedRank) =>
    one.generation === other.generation && one.digest === other.digest;
  return records.some(
    ({ token, ...record }) =>
      token.kind === 'in-flight' && (token.lastTokenMsAgo !== undefined || !ended.some(isOfStart(record))),
  );
}

/** True if launchd has it loaded without a process. A rank that is not loaded may have left a process behind. */
const hasEnded = ({ state }: SeenRank): boolean => state === 'exited' || state === 'ready';

/** Records of a placement on any node, former nodes included. */
const recordsOf = (placement: string, nodes: Readonly<Record<string, NodeObservation>>): readonly RecordedRank[] =>
  Object.values(nodes)
    .flatMap(({ facts }) => readValue(facts, placementsFact) ?? [])
    .filter((record) => record.placement === placement);

function verdictOn(expected: ExpectedMesh, nodeRanks: readonly NodeRank[], traffic: Traffic | undefined): Verdict {
  const ranks: RankOnNode[] = [];
  for (const [rank, { node, seen }] of nodeRanks.entries()) {
    if (seen.kind === 'unknown') {
      return { seen: 'rank-unobserved', evidence: `${node}: ${seen.detail}`, reason: seen.reason };
    }
    ranks.push({ node, rank, seen: seen.value });
  }
  const running = ranks.filter(({ seen }) => isRunning(seen));
  if (running.length === 0) return idleVerdict(ranks);
  if (running.length < ranks.length) return { seen: 'rank-missing', evidence: missingRanks(ranks) };
  return runningVerdict(expected, ranks, traffic);
}

function idleVerdict(ranks: readonly RankOnNode[]): Verdict {
  const states = new Set(ranks.map(({ seen }) => seen.state));
  if (states.has('exited')) return { seen: 'rank-exited', evidence: deadEvidence(ranks) };
  if (states.size === 1 && states.has('absent')) return { seen: 'never-started', evidence: 'no node has it' };
  const isLoaded = states.size === 1 && states.has('ready');
  return { seen: isLoaded ? 'only-loaded' : 'no-process', evidence: idleEvidence(ranks) };
}

function runningVerdict(expected: ExpectedMesh, ranks: readonly RankOnNode[], traffic: Traffic | undefined): Verdict {
  const unequal = unequalRanks(ranks);
  if (unequal !== undefined) return { seen: 'mixed-starts', evidence: unequal };
  const leader = ranks[0]?.seen.record;
  if (leader?.digest !== expected.digest) {
    return { seen: 'old-settings', evidence: changedSettings(leader?.declared, expected.declared, expected.versions) };
  }
  const talked = talkedOver(expected, ranks);
  if (expected.talk?.transport === 'rdma' && talked === 'tcp') {
    return { seen: 'tcp-not-rdma', evidence: 'its ranks use tcp, the file says rdma' };
  }
  const { token } = leader;
  return token.kind === 'silent' && isInstanceMissing(expected, token, ranks)
    ? { seen: 'instance-missing', evidence: `no token: ${token.reason}, because the runtime has dropped the instance` }
    : tokenVerdict(token, ranks, traffic);
}

/** A suspended rank first has to continue. */
const isInstanceMissing = (
  { talk }: ExpectedMesh,
  { status }: Extract<TokenResult, { kind: 'silent' }>,
  ranks: readonly RankOnNode[],
): boolean =>
  status !== undefined &&
  status === talk?.driver.droppedStatus &&
  ranks.every(({ seen }) => seen.state === 'joined' && seen.suspended === undefined);

const talkedOver = ({ talk }: ExpectedMesh, ranks: readonly SeenOnNode[]): 'rdma' | 'tcp' | undefined =>
  talk === undefined
    ? undefined
    : seenTransport(
        talk.driver,
        ranks.map(({ seen }) => seen.record?.said ?? []),
      );

/**
 * The observation asks a running leader for a token. If a start intervenes, the leader is not asked, and the state is
 * unknown. A leader that misses its deadline while clients get answers is busy and counts as serving.
 */
function tokenVerdict(token: TokenResult, ranks: readonly RankOnNode[], traffic: Traffic | undefined): Verdict {
  const isJoined = ranks.every(({ seen }) => seen.state === 'joined');
  const isFlowing = isJoined && traffic?.kind === 'flowing';
  const suspended = suspendedWords(ranks);
  const unobserved = (words: string): Verdict => ({ seen: 'token-unobserved', evidence: words, reason: 'not-asked' });
  switch (token.kind) {
    case 'answered':
      return { seen: 'gave-token', evidence: 'its endpoint returned a token' };
    case 'silent':
      return isLate(token) && isFlowing
        ? { seen: 'answers-clients', evidence: `busy: ${traffic.words}` }
        : { seen: 'no-token', evidence: silentEvidence(token, ranks, traffic) };
    // A mesh that was not asked because of a client's request serves if that client gets tokens. It is hung if its
    // gateway shows that.
    case 'in-flight':
      if (isJoined && token.lastTokenMsAgo !== undefined) {
        const seconds = Math.round(token.lastTokenMsAgo / 100) / 10;
        return { seen: 'answers-clients', evidence: `busy: a client got a token ${seconds} s ago` };
      }
      if (isFlowing) return { seen: 'answers-clients', evidence: `busy: ${traffic.words}` };
      if (traffic?.kind === 'stuck') return { seen: 'no-token', evidence: `no token: ${traffic.words}` };
      return suspended.length > 0
        ? { seen: 'no-token', evidence: `no token: ${suspended.join('; ')}` }
        : unobserved(token.reason);
    case 'not-asked':
      return unobserved('its endpoint was not asked for a token');
  }
}

/**
 * The transport of a mesh according to its logs: one rank that fell back to TCP makes the mesh TCP. `undefined` if no
 * log shows it.
 * @param said each rank's log lines since its start, see `RecordedRank.said`
 */
export function seenTransport(
  { observe }: Pick<RuntimeDriver, 'observe'>,
  said: readonly (readonly string[])[],
): 'rdma' | 'tcp' | undefined {
  const seen = new Set(said.map((lines) => observe(lines).transport));
  if (seen.has('tcp')) return 'tcp';
  return seen.has('rdma') ? 'rdma' : undefined;
}

/** `studio-2 exited (1), studio-3 exited (78: EX_CONFIG)`: the exited ranks. */
const deadEvidence = (ranks: readonly RankOnNode[]): string =>
  ranks
    .filter(({ seen }) => seen.state === 'exited')
    .map(({ node, seen }) => `${node} ${idleWords(seen)}`)
    .join(', ');

/** `rank 1 on studio-2 exited (1)`: the ranks that are missing while others run. */
const missingRanks = (ranks: readonly RankOnNode[]): string =>
  ranks
    .filter(({ seen }) => !isRunning(seen))
    .map(({ node, rank, seen }) => `rank ${rank} on ${node} ${idleWords(seen)}`)
    .join(', ');

/** Explains why no rank runs although none exited: a restart of a Mac stops its ranks. */
function idleEvidence(ranks: readonly RankOnNode[]): string {
  const restarted = ranks.filter(({ seen }) => wasRestarted(seen)).map(({ node }) => node);
  return restarted.length === 0 ? 'no rank runs' : `no rank runs since a restart of ${everyNodeText(restarted)}`;
}

/** True if no token came before the deadline and nothing else is known to be wrong. */
export const isLate = (token: TokenResult | undefined): boolean => token?.kind === 'silent' && token.isTimeout === true;

/**
 * `no token: status 503; rank 2 on studio-3 has not joined`.
 *
 * @param traffic what the mesh's gateway shows; absent without a gateway
 */
function silentEvidence(
  token: Extract<TokenResult, { kind: 'silent' }>,
  ranks: readonly RankOnNode[],
  traffic?: Traffic,
): string {
  const apart = ranks.filter(({ seen }) => seen.state === 'running' || seen.state === 'meeting');
  const missing = apart.map(({ node, rank }) => `rank ${rank} on ${node} has not joined`);
  const suspended = suspendedWords(ranks);
  const isUnclear = isLate(token) && apart.length + suspended.length === 0 && traffic?.kind !== 'stuck';
  const seen = isLate(token) && traffic !== undefined ? [traffic.words] : [];
  return [
    `no token: ${token.reason}`,
    ...suspended,
    ...missing,
    ...seen,
    ...(isUnclear ? ['it is hung or busy'] : []),
  ].join('; ');
}

/** `rank 1 on studio-2 is suspended`: the ranks with a process that a signal has suspended. */
const suspendedWords = (ranks: readonly RankOnNode[]): readonly string[] =>
  ranks
    .filter(({ seen }) => seen.suspended !== undefined)
    .map(({ node, rank }) => `rank ${rank} on ${node} is suspended`);

/** Explains why running ranks do not belong to one start; `undefined` if they do. */
function unequalRanks(ranks: readonly RankOnNode[]): string | undefined {
  const bare = ranks.filter(({ seen }) => seen.record === undefined).map(({ node }) => node);
  if (bare.length > 0) return `a rank without a record runs on ${bare.join(', ')}`;
  const [first, ...others] = ranks;
  const odd = others.filter(({ seen }) => startOf(seen) !== (first === undefined ? '' : startOf(first.seen)));
  return odd.length === 0
    ? undefined
    : `the ranks on ${odd.map(({ node }) => node).join(', ')} are from a different start than the leader`;
}

const startOf = ({ record }: SeenRank): string => `${record?.generation} ${record?.digest}`;

/** True for a rank that was started in an earlier boot session and not since. */
const wasRestarted = ({ state, record, starts }: SeenRank): boolean =>
  state === 'ready' && record !== undefined && record.starts > 0 && starts.kind === 'known' && starts.value === 0;

function idleWords({ state, lastExit }: SeenRank): string {
  switch (state) {
    case 'exited':
      return exitWords(lastExit);
    case 'ready':
      return 'was not started';
    case 'stopped':
      return 'is stopped';
    default:
      return 'is missing';
  }
}

/**
 * The traffic at a mesh's gateway while the mesh misses its token deadline. `flowing`: answers came recently. `stuck`:
 * a streaming request got nothing for longer than reading any prompt takes. `unclear`: in between. `idle`: no request
 * is in flight.
 */
interface Traffic {
  readonly kind: 'flowing' | 'stuck' | 'unclear' | 'idle';
  readonly words: string;
}

/** The longest silence while a mesh reads a prompt: a model with 671e9 parameters reads a few hundred tokens/s. */
export const longestQuietMs = 600_000;

/**
 * The traffic at a mesh's gateways; undefined if there is none or none answered, because then nothing is known about
 * clients. While an endpoint moves it has two gateways: traffic at either shows that the mesh is not hung.
 */
function trafficAt(
  { placement, nodes: [leader], firstTokenMs = 0 }: ExpectedMesh,
  nodes: Readonly<Record<string, NodeObservation>>,
  [first]: readonly NodeRank[],
): Traffic | undefined {
  const record = seenValue(first?.seen)?.record;
  if (leader === undefined || record === undefined) return undefined;
  const gateways = readValue(nodes[leader]?.facts, gatewaysFact) ?? [];
  const all = gateways
    .flatMap((one) => (one.kind === 'answered' ? one.endpoints : []))
    .filter((endpoint) => endpoint.placement === placement)
    .map((endpoint) => trafficOf(endpoint, record.tokenDeadlineMs, firstTokenMs));
  const found = (kind: Traffic['kind']): Traffic | undefined => all.find((one) => one.kind === kind);
  const isWhole = gateways.every(({ kind }) => kind === 'answered');
  if (found('flowing') !== undefined) return found('flowing');
  if (isWhole && all.every(({ kind }) => kind === 'stuck')) return all[0];
  const waiting = found('stuck') ?? found('unclear');
  return waiting === undefined ? all[0] : { kind: 'unclear', words: waiting.words };
}

/**
 * The traffic at one gateway.
 * @param latelyMs how long the request for one token waited; an answer to clients in that time shows that the mesh
 * works
 * @param firstTokenMs the file's first-token deadline, which may extend the limit for `stuck`
 */
function trafficOf(
  { running, waiting, lastByteMsAgo, quietMs, streamQuietMs = 0 }: EndpointTraffic,
  latelyMs: number,
  firstTokenMs: number,
): Traffic {
  const inFlight = running + waiting;
  if (inFlight === 0) return { kind: 'idle', words: 'its gateway has no requests in flight' };
  const requests = `its gateway has ${inFlight} ${inFlight === 1 ? 'request' : 'requests'} in flight`;
  // Bytes that were sent before the requests in flight began do not count.
  const isTheirs = lastByteMsAgo !== undefined && lastByteMsAgo <= Math.min(latelyMs, quietMs ?? latelyMs);
  if (running > 0 && isTheirs) {
    return { kind: 'flowing', words: `${requests} and sent part of an answer ${secondsText(lastByteMsAgo)} ago` };
  }
  if (quietMs === undefined) return { kind: 'unclear', words: requests };
  const words = `${requests} and has sent nothing for ${secondsText(quietMs)}`;
  return { kind: streamQuietMs > Math.max(longestQuietMs, firstTokenMs) ? 'stuck' : 'unclear', words };
}

const secondsText = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.floor(ms / 60_000)} min`;
