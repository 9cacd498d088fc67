import type { StopOrder } from '../../../drivers/contract/driver.ts';
import type { DesiredPlacement } from '../../../model/desired.ts';
import type { StopDialogue } from '../../../model/endpoint-calls.ts';
import type { LaunchdService } from '../../../model/facts/daemons.ts';
import type { Facts, NodeObservation, RecordedRank } from '../../../model/facts/fact-values.ts';
import { given } from '../../../model/given.ts';
import { andThen, type Known, known, mapKnown, unknown } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import type { ScriptCall } from '../../../model/node-script.ts';
import { type Act, type Effect, type Patch, type Step, type StepId, stepId } from '../../../model/step.ts';
import { type Addressed, addressed } from '../../../model/subject.ts';
import { rankServiceLabel } from '../../../node/paths/own-paths.ts';
import { bootSessionFact } from '../../boot/fact.ts';
import { read, readValue } from '../../fact.ts';
import { isSpent, type LaunchBudget, launchBudget } from '../../rdma/launch-budget-reading.ts';
import { servicesFact, unreadableState } from '../../records/services-fact.ts';
import { placementsFact } from '../observed/fact.ts';

/**
 * The nodes whose launch budget has no room for a start; unknown if one node's budget is unknown.
 * @param takes places that the start needs in each RDMA device
 */
export function spentNodes(ranks: readonly NodeRank[], takes = 1): Known<readonly NodeName[]> {
  const spent: NodeName[] = [];
  for (const { node, seen } of ranks) {
    if (seen.kind === 'unknown') return seen;
    const { budget } = seen.value;
    if (budget.kind === 'unknown') return budget;
    if (isSpent(budget.value, takes)) spent.push(node);
  }
  return known(spent);
}

/** A placement and the nodes where its ranks run or may run. */
export interface RunningPlacement {
  readonly name: string;
  readonly nodes: readonly NodeName[];
  /** True if some of these nodes are unobserved. */
  readonly isGuess: boolean;
}

type Placed = Pick<DesiredPlacement, 'name' | 'nodes'>;

/** Placements that have records on nodes but are no longer in the file. */
function unlistedPlacements(placed: readonly Placed[], nodes: readonly NodeObservation[]): readonly Placed[] {
  const recorded = nodes.flatMap(({ facts }) => readValue(facts, placementsFact) ?? []);
  const names = [...new Set(recorded.map(({ placement }) => placement))].toSorted();
  return names.filter((name) => placed.every((one) => one.name !== name)).map((name) => ({ name, nodes: [] }));
}

/** What runs where, whatever is desired. A rank that may be on an unobserved node counts: unknown is never no. */
export function runningPlacements(
  placed: readonly Placed[],
  observed: Readonly<Record<string, NodeObservation>>,
): readonly RunningPlacement[] {
  const nodes = Object.values(observed);
  return [...placed, ...unlistedPlacements(placed, nodes)].flatMap((placement): readonly RunningPlacement[] => {
    const ranks = nodes.map(({ node, facts }) => seeRank(node, placement.name, facts));
    const sure = ranks.filter(({ seen }) => seen.kind === 'known' && isRunning(seen.value)).map(({ node }) => node);
    const guessed = ranks
      .filter(({ node, seen }) => seen.kind === 'unknown' && placement.nodes.includes(node))
      .map(({ node }) => node);
    return sure.length + guessed.length === 0
      ? []
      : [{ name: placement.name, nodes: [...sure, ...guessed], isGuess: guessed.length > 0 }];
  });
}

export interface MeshWork {
  readonly placement: string;
  /** All its nodes in rank order. */
  readonly nodes: readonly NodeName[];
  /** Ids of the changes that these steps make. */
  readonly changes: readonly string[];
  /** The time that a stop waits after SIGINT; absent if the stop begins with SIGTERM. */
  readonly interruptMs?: number;
  /** The minimum time for an orderly exit after SIGTERM. */
  readonly graceMs?: number;
  /** True if its ranks use RDMA, whose objects SIGKILL can leave in the kernel. */
  readonly isOverRdma?: true;
  /** The driver's stop order. If the driver is unknown, it is absent and the leader stops first. */
  readonly stopOrder?: StopOrder;
  /** The graceful-shutdown dialogue with the leader's endpoint before a stop, if any. */
  readonly gracefulShutdown?: { readonly name: StopDialogue['name']; readonly port: number };
  /** Absent if the other steps continue when one fails. */
  readonly group?: string;
}

export interface MeshStepParts {
  readonly node: NodeName;
  /** Unique within the placement on its node: `kick`. */
  readonly verb: string;
  readonly act: Act;
  readonly needs?: readonly Step[];
  /** Steps that must end first, whatever their outcome. */
  readonly after?: readonly Step[];
  readonly effect?: Effect;
  readonly establishes?: readonly Patch[];
  readonly deadlineMs: number;
}

/** One step on a node of a placement. The other nodes are its peers, so earlier resources come first on all of them. */
export function meshStep(work: MeshWork, { node, verb, act, needs = [], after = [], ...parts }: MeshStepParts): Step {
  return {
    id: stepId(`${node}/placement/${work.placement}/${verb}`),
    node,
    resource: 'placement',
    class: classOf(act),
    act,
    effect: parts.effect ?? { kind: 'none' },
    changes: act.kind === 'gate' ? [] : work.changes,
    needs: idsOf(needs),
    ...(after.length === 0 ? {} : { after: idsOf(after) }),
    ...given({ group: work.group }),
    peers: work.nodes.filter((other) => other !== node),
    establishes: parts.establishes ?? [],
    deadlineMs: parts.deadlineMs,
  };
}

function classOf({ kind }: Act): Step['class'] {
  if (kind === 'job') return 'job';
  return kind === 'gate' || kind === 'ask' ? 'probe' : 'converge';
}

/** The same work without a group: the other steps continue when one fails. */
export const outsideGroup = ({ group: _, ...work }: MeshWork): MeshWork => work;

const idsOf = (steps: readonly Step[]): readonly StepId[] => [...new Set(steps.map(({ id }) => id))];

export const scriptAct = (call: ScriptCall): Act => ({ kind: 'script', ...call });

export const rankPatch = (placement: string, node: NodeName, reading: RankReading): Patch => ({
  node,
  ...rankAddress(placement),
  value: { ...reading },
});

export const rankAddress = (placement: string): Addressed => addressed({ kind: 'rank', placement });

/** A placement's address, on the node of its leader. */
export const placementAddress = (placement: string): Addressed => addressed({ kind: 'placement', placement });

/**
 * State of one rank on its node. `ready`: loaded but never started. `running`: has not joined yet. `meeting`: listens
 * where the other ranks find it. `joined`: listens where a joined rank listens. `exited`: was started and has no
 * process left.
 */
export type RankState = 'absent' | 'stopped' | 'ready' | 'running' | 'meeting' | 'joined' | 'exited';

export interface SeenRank {
  readonly state: RankState;
  /** Its record, written by bootstrap; absent if bootstrap never ran. */
  readonly record?: RecordedRank;
  /** True if `stop-rank` may have to stop a process. */
  readonly mayRun: boolean;
  /** Its processes that a signal has suspended; absent if there are none. */
  readonly suspended?: readonly number[];
  /** The exit of its last process, as launchd prints it. */
  readonly lastExit?: string;
  /** The number of starts in this boot session, over all generations. */
  readonly starts: Known<number>;
  /** The launch budget of its node for all placements; it matters only for RDMA. */
  readonly budget: Known<LaunchBudget>;
}

export interface NodeRank {
  readonly node: NodeName;
  readonly seen: Known<SeenRank>;
}

export interface SeenOnNode {
  readonly node: NodeName;
  readonly seen: SeenRank;
}

export const seenRanks = (ranks: readonly NodeRank[]): readonly SeenOnNode[] =>
  ranks.flatMap(({ node, seen }) => (seen.kind === 'known' ? [{ node, seen: seen.value }] : []));

export const isRunning = ({ state }: Pick<SeenRank, 'state'>): boolean =>
  state === 'running' || state === 'meeting' || state === 'joined';

/** The value that a gate compares: `rank/<placement>` of a node. */
interface RankReading {
  readonly generation: number;
  readonly state: RankState;
}

export const seeRank = (node: NodeName, placement: string, facts: Facts | undefined): NodeRank => ({
  node,
  seen: facts === undefined ? unknown('unreachable', 'the node was not observed') : rankIn(facts, placement),
});

const rankIn = (facts: Facts, placement: string): Known<SeenRank> =>
  andThen(read(facts, placementsFact), (placements) =>
    andThen(read(facts, servicesFact), (services) => {
      const record = placements.find((one) => one.placement === placement);
      const service = services.find(({ label }) => label === rankServiceLabel(placement));
      const state = stateOf(record, service);
      if (state === undefined) return unreadableState(rankServiceLabel(placement));
      const starts = startsOf(record, facts);
      return known({
        state,
        mayRun: isRunning({ state }) || (record !== undefined && service === undefined),
        ...given({ record, lastExit: service?.lastExit, suspended: service?.suspended }),
        starts,
        budget: andThen(starts, (count) => launchBudget(facts, count)),
      });
    }),
  );

export const rankReading = ({ record, state }: SeenRank): RankReading => ({
  generation: record?.generation ?? 0,
  state,
});

/** `undefined` if launchd reports no known state, or not whether a service without a process ever had one. */
function stateOf(record: RecordedRank | undefined, service: LaunchdService | undefined): RankState | undefined {
  if (service === undefined) return unlistedState(record);
  switch (service.state) {
    case 'running':
      return record === undefined ? 'running' : runningState(record);
    case 'not-loaded':
      return record === undefined ? 'absent' : 'stopped';
    case 'waiting':
      return idleState(service);
    case 'unknown':
      return undefined;
  }
}

/** launchd does not list a running service whose file was deleted: only its port shows the process. */
function unlistedState(record: RecordedRank | undefined): RankState {
  if (record === undefined) return 'absent';
  return record.isListening ? 'joined' : 'stopped';
}

/** launchd counts runs since bootstrap, so a service that was loaded again by a reboot is `ready`. */
function idleState({ runs, lastExit }: LaunchdService): RankState | undefined {
  if (runs !== undefined) return runs === 0 ? 'ready' : 'exited';
  if (lastExit === undefined) return undefined;
  return lastExit === '(never exited)' ? 'ready' : 'exited';
}

const runningState = (record: RecordedRank): RankState =>
  isJoined(record) ? 'joined' : record.isMeeting ? 'meeting' : 'running';

/** A follower that joins at the endpoint's port does not have a port of its own: only the leader listens there. */
const isJoined = ({ rank, port, endpointPort, isListening }: RecordedRank): boolean =>
  port === 0 || isListening || (rank > 0 && port === endpointPort);

function startsOf(record: RecordedRank | undefined, facts: Facts): Known<number> {
  if (record === undefined || record.starts === 0) return known(0);
  return mapKnown(read(facts, bootSessionFact), ({ uuid }) => (uuid === record.startedIn ? record.starts : 0));
}
