import { firstFailingRank, rankWords } from '../../../drivers/classify-log.ts';
import type { FailureAction, RuntimeDriver } from '../../../drivers/contract/driver.ts';
import { changedSettings } from '../../../model/declared-settings.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import { exitWords } from '../../../model/facts/daemons.ts';
import type { NodeObservation, PlacementMember, TokenSight } from '../../../model/facts/fact-values.ts';
import type { FlowSight } from '../../../model/gateway.ts';
import { given } from '../../../model/given.ts';
import { seenValue, type UnknownReason } from '../../../model/known.ts';
import { linkEndText, type NodeName, nodeName } from '../../../model/node.ts';
import type { Prose } from '../../../model/text/prose.ts';
import { thunderboltFact } from '../../cables/fact.ts';
import { readValue } from '../../fact.ts';
import { doormenFact } from '../../records/gateways-fact.ts';
import { isRunning, type Member, type SeenMember, type SeenOnNode, seeMember, seenMembers } from '../members.ts';
import { placementsFact } from '../observed/fact.ts';

/** The speed of a cable that RDMA is made for. @see apple-platform: Thunderbolt 5 */
const fullBitsPerSecond = 80_000_000_000;

/**
 * What could make a mesh slow, of what can be seen: its ranks talk otherwise than the file says, or a cable between
 * them is slow. Full sentences; empty where nothing is to be seen.
 */
export function slowWords(
  placement: DesiredPlacement,
  { thunderbolt }: Pick<DesiredFleet, 'thunderbolt'>,
  nodes: Readonly<Record<string, NodeObservation>>,
  driver: Pick<RuntimeDriver, 'observe'>,
): readonly string[] {
  const kept = placement.nodes.flatMap((node) => readValue(nodes[node]?.facts, placementsFact) ?? []);
  const said = kept.filter((member) => member.placement === placement.name).map((member) => member.said);
  const transport = seenTransport(driver, said);
  const isMember = (name: string): boolean => placement.nodes.some((node) => node === name);
  const slow = thunderbolt.links
    .filter(({ ends }) => ends.every(({ node }) => isMember(node)))
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
  if (seen === undefined) return wanted === 'rdma' ? ['No log says whether its ranks talk over rdma.'] : [];
  const but = seen === wanted ? '' : `, and the file says ${wanted}`;
  return [`Its ranks talk over ${seen}${but}.`];
}

/** How a placement is, in words: `serving`, `no rank runs`, `hung: no token: timed out`. */
export function meshWords({ state, evidence, proof }: Mesh): string {
  switch (state) {
    case 'serving':
      return proof === undefined ? 'serving' : `serving, ${evidence}`;
    case 'absent':
      return 'never started';
    case 'stopped':
    case 'ready':
      return evidence;
    case 'silent':
      return `hung: ${evidence}`;
    case 'changed':
      return `running with old settings: ${evidence}`;
    case 'dead':
    case 'partial':
    case 'unknown':
      return `${state}: ${evidence}`;
  }
}

/** What the ranks of a mesh that does not serve say of it themselves. */
export interface MeshFailure {
  readonly node: NodeName;
  /** `rank 1 on studio-2 exited (1)`. */
  readonly rank: string;
  readonly line: string;
  readonly meaning: string;
  readonly action: FailureAction;
  /** What to do, in one sentence. */
  readonly cure: Prose;
  /** Whether it got no answer from its peer, at an address on a cable. */
  readonly isUnreached?: true;
}

/** The rank that failed first, and what its log means; `undefined` where no log says anything that is known. */
export function meshFailure(
  { members }: Pick<Mesh, 'members'>,
  { signatures }: Pick<RuntimeDriver, 'signatures'>,
): MeshFailure | undefined {
  const ranks = members.flatMap(({ node, seen }, rank) => {
    if (seen.kind === 'unknown') return [];
    const { record, state, lastExit } = seen.value;
    const exit = state === 'exited' ? lastExit : undefined;
    return [{ node, rank, lines: record?.said ?? [], ...given({ exit }) }];
  });
  const failing = firstFailingRank(signatures, ranks);
  if (failing?.failure === undefined) return undefined;
  const { said, failure } = failing;
  const { meaning, action, cure, isUnreached } = failure.signature;
  const { node } = said;
  return { node, rank: rankWords(said), line: failure.line, meaning, action, cure, ...given({ isUnreached }) };
}

/** What the file says about a mesh, as far as judging it needs it. */
interface ExpectedMesh {
  readonly placement: string;
  /** In rank order. */
  readonly nodes: readonly NodeName[];
  /** Of the placement as the file has it. */
  readonly digest: string;
  /** Its settings as a start keeps them; only to name what differs. */
  readonly declared?: string;
  /** How long the file gives it for a first token. */
  readonly firstTokenMs?: number;
  /** How its ranks are to talk, and what their logs say of it; absent where nobody reads them. */
  readonly talk?: { readonly transport: 'rdma' | 'tcp'; readonly driver: Pick<RuntimeDriver, 'observe'> };
}

/**
 * How a placement is: `silent` when all ranks run and give no token (people call it hung), `changed` when all run and
 * are not what the file says, `dead` when none runs and one was started, `ready` when all are loaded and none was
 * started, `unknown` when something about a member could not be seen.
 */
export type MeshState =
  | 'absent'
  | 'stopped'
  | 'ready'
  | 'dead'
  | 'partial'
  | 'silent'
  | 'changed'
  | 'serving'
  | 'unknown';

/** A placement over its nodes. */
export interface Mesh {
  readonly placement: string;
  readonly state: MeshState;
  /** Why it is judged so, in words that go on `<state>: `; for `unknown`, what could not be seen. */
  readonly evidence: string;
  /** Set where it serves though it gave no token in time: the answers of others come from it. */
  readonly proof?: 'traffic';
  /** Set where the last start of this very file came back over that in this boot session, though the file says rdma. */
  readonly talked?: 'tcp';
  /** Set where it runs so, and the start before did so too: another one would be the same again. */
  readonly staysOn?: 'tcp';
  /** Set for `unknown`: the reason of the first member that could not be judged. */
  readonly unknownReason?: UnknownReason;
  /** The highest generation that any node has seen, members of old included; 0 when there was none. */
  readonly generation: number;
  /**
   * Whether stopping it may take an answer away from a client: its endpoint gave a token, a request is in flight and no
   * rank of that start has ended, or no token came in time although every rank has joined. The last is what a mesh with
   * long requests shows, as well as one that hangs.
   */
  readonly isAnswering: boolean;
  /** In rank order. */
  readonly members: readonly Member[];
}

/** A member that was seen, with its place in the mesh. */
interface RankOnNode extends SeenOnNode {
  readonly rank: number;
}

type Verdict = Pick<Mesh, 'state' | 'evidence' | 'unknownReason' | 'proof'>;

/** Judges a placement from the observations of all nodes. Whatever is unknown about a member makes it `unknown`. */
export function judgeMesh(expected: ExpectedMesh, nodes: Readonly<Record<string, NodeObservation>>): Mesh {
  const members = expected.nodes.map((node) => seeMember(node, expected.placement, nodes[node]?.facts));
  const records = recordsOf(expected.placement, nodes);
  const traffic = trafficAt(expected, nodes, members);
  const isStuck = traffic?.kind === 'stuck';
  return {
    placement: expected.placement,
    ...verdictOn(expected, members, traffic),
    generation: Math.max(0, ...records.map(({ generation }) => generation)),
    ...talkedOf(expected, members),
    isAnswering:
      records.some(({ token }) => token.kind === 'answered') ||
      (!isStuck && (mayBeBusy(members) || hasLivingRequest(expected.placement, nodes, records))),
    members,
  };
}

/** Whether the last start talked over TCP against the file; logs of an earlier boot session or file say nothing of it. */
function talkedOf(expected: ExpectedMesh, members: readonly Member[]): Pick<Mesh, 'talked' | 'staysOn'> {
  const ranks = seenMembers(members);
  const isLast = ({ seen: { record, starts } }: SeenOnNode): boolean =>
    record?.digest === expected.digest && starts.kind === 'known' && starts.value > 0;
  if (expected.talk?.transport !== 'rdma' || ranks.length < members.length || !ranks.every(isLast)) return {};
  if (talkedOver(expected, ranks) !== 'tcp') return {};
  const isAgain = ranks.every(({ seen }) => isRunning(seen) && seen.record?.lastTalked === 'tcp');
  return { talked: 'tcp', ...(isAgain ? { staysOn: 'tcp' } : {}) };
}

/** Whether every rank has joined and no token came before the deadline: unknown is never no. */
const mayBeBusy = (members: readonly Member[]): boolean =>
  members.every(({ seen }) => seenValue(seen)?.state === 'joined') &&
  members.some(({ seen }) => isLate(seenValue(seen)?.record?.token));

/**
 * Whether a request is in flight that may still get its answer: a rank that has ended takes the answers of its whole start
 * with it, and our own question may then wait inside a server that gives no token any more. A client that has just got a
 * token says more: the Macs were not looked at in the same moment.
 */
function hasLivingRequest(
  placement: string,
  nodes: Readonly<Record<string, NodeObservation>>,
  records: readonly PlacementMember[],
): boolean {
  const ended = Object.entries(nodes).flatMap(([node, { facts }]) => {
    const { seen } = seeMember(nodeName(node), placement, facts);
    return seen.kind === 'known' && hasEnded(seen.value) ? (seen.value.record ?? []) : [];
  });
  const isOfStart = (one: Omit<PlacementMember, 'token'>) => (other: PlacementMember) =>
    one.generation === other.generation && one.digest === other.digest;
  return records.some(
    ({ token, ...record }) =>
      token.kind === 'in-flight' && (token.lastTokenMsAgo !== undefined || !ended.some(isOfStart(record))),
  );
}

/** Whether launchd has it and no process of it: one that launchd does not have may have left a process behind. */
const hasEnded = ({ state }: SeenMember): boolean => state === 'exited' || state === 'ready';

/** What any node keeps of a placement, whether it is still a member or not. */
const recordsOf = (placement: string, nodes: Readonly<Record<string, NodeObservation>>): readonly PlacementMember[] =>
  Object.values(nodes)
    .flatMap(({ facts }) => readValue(facts, placementsFact) ?? [])
    .filter((record) => record.placement === placement);

function verdictOn(expected: ExpectedMesh, members: readonly Member[], traffic: Traffic | undefined): Verdict {
  const ranks: RankOnNode[] = [];
  for (const [rank, { node, seen }] of members.entries()) {
    if (seen.kind === 'unknown') {
      return { state: 'unknown', evidence: `${node}: ${seen.detail}`, unknownReason: seen.reason };
    }
    ranks.push({ node, rank, seen: seen.value });
  }
  const running = ranks.filter(({ seen }) => isRunning(seen));
  if (running.length === 0) return idleVerdict(ranks);
  if (running.length < ranks.length) return { state: 'partial', evidence: missingRanks(ranks) };
  return runningVerdict(expected, ranks, traffic);
}

function idleVerdict(ranks: readonly RankOnNode[]): Verdict {
  const states = new Set(ranks.map(({ seen }) => seen.state));
  if (states.has('exited')) return { state: 'dead', evidence: deadEvidence(ranks) };
  if (states.size === 1 && states.has('absent')) return { state: 'absent', evidence: 'no node has it' };
  const isReady = states.size === 1 && states.has('ready');
  return { state: isReady ? 'ready' : 'stopped', evidence: idleEvidence(ranks) };
}

function runningVerdict(expected: ExpectedMesh, ranks: readonly RankOnNode[], traffic: Traffic | undefined): Verdict {
  const unequal = unequalRanks(ranks);
  if (unequal !== undefined) return { state: 'changed', evidence: unequal };
  const leader = ranks[0]?.seen.record;
  if (leader?.digest !== expected.digest) {
    return { state: 'changed', evidence: changedSettings(leader?.declared, expected.declared) };
  }
  const talked = talkedOver(expected, ranks);
  if (expected.talk?.transport === 'rdma' && talked === 'tcp') {
    return { state: 'changed', evidence: 'its ranks talk over tcp, the file says rdma' };
  }
  return tokenVerdict(leader.token, ranks, traffic);
}

const talkedOver = ({ talk }: ExpectedMesh, ranks: readonly SeenOnNode[]): 'rdma' | 'tcp' | undefined =>
  talk === undefined
    ? undefined
    : seenTransport(
        talk.driver,
        ranks.map(({ seen }) => seen.record?.said ?? []),
      );

/**
 * A leader that runs is asked by its own observation; a start in between leaves it unasked, which says nothing. One that
 * gives clients their answers meanwhile has tokens, and only none to spare.
 */
function tokenVerdict(token: TokenSight, ranks: readonly RankOnNode[], traffic: Traffic | undefined): Verdict {
  const isJoined = ranks.every(({ seen }) => seen.state === 'joined');
  const isFlowing = isJoined && traffic?.kind === 'flowing';
  const busy = (words: string): Verdict => ({ state: 'serving', evidence: `busy: ${words}`, proof: 'traffic' });
  switch (token.kind) {
    case 'answered':
      return { state: 'serving', evidence: 'its endpoint gave a token' };
    case 'silent':
      return isLate(token) && isFlowing
        ? busy(traffic.words)
        : { state: 'silent', evidence: silentEvidence(token, ranks, traffic) };
    // A mesh that was not asked beside a client serves where that client gets tokens, and hangs where its gateway shows it.
    case 'in-flight':
      if (isJoined && token.lastTokenMsAgo !== undefined) {
        return busy(`a client got a token ${Math.round(token.lastTokenMsAgo / 100) / 10} s ago`);
      }
      if (isFlowing) return busy(traffic.words);
      return traffic?.kind === 'stuck'
        ? { state: 'silent', evidence: `no token: ${traffic.words}` }
        : { state: 'unknown', evidence: token.reason, unknownReason: 'not-asked' };
    case 'not-asked':
      return { state: 'unknown', evidence: 'nobody asked its endpoint for a token', unknownReason: 'not-asked' };
  }
}

/**
 * How the ranks of a mesh talk, as far as their logs say it; one rank that fell back to TCP makes it TCP. `undefined`
 * where no log says anything.
 *
 * @param said what each rank has said since its start, see `PlacementMember.said`
 */
export function seenTransport(
  { observe }: Pick<RuntimeDriver, 'observe'>,
  said: readonly (readonly string[])[],
): 'rdma' | 'tcp' | undefined {
  const seen = new Set(said.map((lines) => observe(lines).transport));
  if (seen.has('tcp')) return 'tcp';
  return seen.has('rdma') ? 'rdma' : undefined;
}

/** `studio-2 exited (1), studio-3 exited (78: EX_CONFIG)`: why no rank runs, where one was started. */
const deadEvidence = (ranks: readonly RankOnNode[]): string =>
  ranks
    .filter(({ seen }) => seen.state === 'exited')
    .map(({ node, seen }) => `${node} ${idleWords(seen)}`)
    .join(', ');

/** `rank 1 on studio-2 exited (1)`: which ranks are missing while others run. */
const missingRanks = (ranks: readonly RankOnNode[]): string =>
  ranks
    .filter(({ seen }) => !isRunning(seen))
    .map(({ node, rank, seen }) => `rank ${rank} on ${node} ${idleWords(seen)}`)
    .join(', ');

/** Why nothing runs where nothing exited: a restart of a Mac takes its ranks with it. */
function idleEvidence(ranks: readonly RankOnNode[]): string {
  const restarted = ranks.filter(({ seen }) => wasRestarted(seen)).map(({ node }) => node);
  return restarted.length === 0 ? 'no rank runs' : `no rank runs since a restart of ${restarted.join(', ')}`;
}

/** Whether no token came before the deadline, and nothing else is known to be wrong. */
export const isLate = (token: TokenSight | undefined): boolean => token?.kind === 'silent' && token.isTimeout === true;

/**
 * `no token: status 503; rank 2 on studio-3 has not joined`.
 *
 * @param traffic what its doorman sees; absent where there is none
 */
function silentEvidence(
  token: Extract<TokenSight, { kind: 'silent' }>,
  ranks: readonly RankOnNode[],
  traffic?: Traffic,
): string {
  const apart = ranks.filter(({ seen }) => seen.state === 'running' || seen.state === 'meeting');
  const missing = apart.map(({ node, rank }) => `rank ${rank} on ${node} has not joined`);
  const isUnclear = isLate(token) && apart.length === 0 && traffic?.kind !== 'stuck';
  const seen = isLate(token) && traffic !== undefined ? [traffic.words] : [];
  return [`no token: ${token.reason}`, ...missing, ...seen, ...(isUnclear ? ['it is hung or busy'] : [])].join('; ');
}

/** What tells running ranks apart from those of one start; `undefined` when they belong together. */
function unequalRanks(ranks: readonly RankOnNode[]): string | undefined {
  const bare = ranks.filter(({ seen }) => seen.record === undefined).map(({ node }) => node);
  if (bare.length > 0) return `a rank without a record runs on ${bare.join(', ')}`;
  const [first, ...others] = ranks;
  const odd = others.filter(({ seen }) => startOf(seen) !== (first === undefined ? '' : startOf(first.seen)));
  return odd.length === 0
    ? undefined
    : `the ranks on ${odd.map(({ node }) => node).join(', ')} are of another start than the leader`;
}

const startOf = ({ record }: SeenMember): string => `${record?.generation} ${record?.digest}`;

/** Started once, but not in this boot session, and launchd has not started it since. */
const wasRestarted = ({ state, record, starts }: SeenMember): boolean =>
  state === 'ready' && record !== undefined && record.starts > 0 && starts.kind === 'known' && starts.value === 0;

function idleWords({ state, lastExit }: SeenMember): string {
  switch (state) {
    case 'exited':
      return exitWords(lastExit);
    case 'ready':
      return 'was not started';
    case 'stopped':
      return 'is stopped';
    default:
      return 'is not there';
  }
}

/**
 * What the doorman of a mesh sees of it while it gives no token of its own in time: `flowing` when answers came lately,
 * `stuck` when it has a request for a stream and gave nothing for longer than any prompt is read, `unclear` in between.
 */
interface Traffic {
  readonly kind: 'flowing' | 'stuck' | 'unclear' | 'nobody';
  readonly words: string;
}

/**
 * The longest that a mesh is quiet while it reads a prompt: a model of 671e9 parameters reads the longest ones with some
 * hundred tokens a second.
 */
const longestQuietMs = 600_000;

/**
 * What the doormen before a mesh say; undefined where there is none, or where none answered: then nothing is known of
 * clients. While an endpoint moves it has two doors: what flows through one shows that the other does not hang.
 */
function trafficAt(
  { placement, nodes: [leader], firstTokenMs = 0 }: ExpectedMesh,
  nodes: Readonly<Record<string, NodeObservation>>,
  [first]: readonly Member[],
): Traffic | undefined {
  const record = seenValue(first?.seen)?.record;
  if (leader === undefined || record === undefined) return undefined;
  const doormen = readValue(nodes[leader]?.facts, doormenFact) ?? [];
  const all = doormen
    .flatMap((one) => (one.kind === 'answered' ? one.doors : []))
    .filter((door) => door.placement === placement)
    .map((door) => trafficOf(door, record.tokenDeadlineMs, firstTokenMs));
  const found = (kind: Traffic['kind']): Traffic | undefined => all.find((one) => one.kind === kind);
  const isWhole = doormen.every(({ kind }) => kind === 'answered');
  if (found('flowing') !== undefined) return found('flowing');
  if (isWhole && all.every(({ kind }) => kind === 'stuck')) return all[0];
  const waiting = found('stuck') ?? found('unclear');
  return waiting === undefined ? all[0] : { kind: 'unclear', words: waiting.words };
}

/**
 * What one door shows.
 *
 * @param latelyMs how long the request for one token waited: whatever came in that time was made beside it
 * @param firstTokenMs what the file gives it for a first token; a longer time than usual counts here too
 */
function trafficOf(
  { running, waiting, lastByteMsAgo, quietMs, streamQuietMs = 0 }: FlowSight,
  latelyMs: number,
  firstTokenMs: number,
): Traffic {
  const inside = running + waiting;
  if (inside === 0) return { kind: 'nobody', words: 'nobody is inside its door' };
  const requests = `${inside} ${inside === 1 ? 'request is' : 'requests are'} inside its door`;
  // What came before those inside had asked says nothing of them: then it is quiet for less time than that.
  const isTheirs = lastByteMsAgo !== undefined && lastByteMsAgo <= Math.min(latelyMs, quietMs ?? latelyMs);
  if (running > 0 && isTheirs) {
    return { kind: 'flowing', words: `${requests}, and something of an answer came ${secondsText(lastByteMsAgo)} ago` };
  }
  if (quietMs === undefined) return { kind: 'unclear', words: requests };
  const words = `${requests}, and nothing of an answer came for ${secondsText(quietMs)}`;
  return { kind: streamQuietMs > Math.max(longestQuietMs, firstTokenMs) ? 'stuck' : 'unclear', words };
}

const secondsText = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.floor(ms / 60_000)} min`;
