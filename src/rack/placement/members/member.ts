import type { LaunchdService } from '../../../model/facts/daemons.ts';
import type { Facts, PlacementMember } from '../../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import { rankServiceLabel } from '../../../node/paths/own-paths.ts';
import { bootSessionFact } from '../../boot/boot-session-fact.ts';
import { read } from '../../fact.ts';
import { type LaunchBudget, launchBudget } from '../../rdma/launch-budget.ts';
import { servicesFact } from '../../records/services-fact.ts';
import { placementsFact } from '../observed/fact.ts';

/**
 * What one member of a placement does on its node: `ready` is loaded and was never started, `running` has not joined
 * yet, `meeting` listens where the others find it, `joined` listens where a member that joined listens, `exited` was
 * started and has no process any more.
 */
export type MemberState = 'absent' | 'stopped' | 'ready' | 'running' | 'meeting' | 'joined' | 'exited';

/** One member of a placement as its node shows it. */
export interface SeenMember {
  readonly state: MemberState;
  /** What bootstrap left on the node; absent where it never ran. */
  readonly record?: PlacementMember;
  /** Whether a process may be there that `stop-rank` has to end. */
  readonly mayRun: boolean;
  /** As launchd prints the end of its last process. */
  readonly lastExit?: string;
  /** Starts in this boot session, over all generations. */
  readonly starts: Known<number>;
  /** Of its node, over all placements: what counts where the placement uses RDMA. */
  readonly budget: Known<LaunchBudget>;
}

/** A member, seen or not. */
export interface Member {
  readonly node: NodeName;
  readonly seen: Known<SeenMember>;
}

/** A member that was seen, with its place in the mesh. */
export interface RankOnNode {
  readonly node: NodeName;
  readonly rank: number;
  readonly seen: SeenMember;
}

/** Whether it has a process. */
export const isRunning = ({ state }: Pick<SeenMember, 'state'>): boolean =>
  state === 'running' || state === 'meeting' || state === 'joined';

/** What a gate compares: `rank/<placement>` of a node. */
export interface RankSight {
  readonly generation: number;
  readonly state: MemberState;
}

/** Looks at a node for its member of a placement; `facts` are absent when the node was not observed at all. */
export function seeMember(node: NodeName, placement: string, facts: Facts | undefined): Member {
  if (facts === undefined) return { node, seen: unknown('unreachable', 'the node was not observed') };
  const placements = read(facts, placementsFact);
  const services = read(facts, servicesFact);
  if (placements.kind === 'unknown') return { node, seen: placements };
  if (services.kind === 'unknown') return { node, seen: services };
  const record = placements.value.find((member) => member.placement === placement);
  const service = services.value.find(({ label }) => label === rankServiceLabel(placement));
  const state = stateOf(record, service);
  if (state === undefined) {
    return { node, seen: unknown('garbled', `launchctl does not say whether ${rankServiceLabel(placement)} ever ran`) };
  }
  const starts = startsOf(record, facts);
  const seen: SeenMember = {
    state,
    mayRun: isRunning({ state }) || (record !== undefined && service === undefined),
    ...(record === undefined ? {} : { record }),
    ...(service?.lastExit === undefined ? {} : { lastExit: service.lastExit }),
    starts,
    budget: starts.kind === 'unknown' ? starts : launchBudget(facts, starts.value),
  };
  return { node, seen: known(seen) };
}

/** The value of `rank/<placement>`. */
export const rankSight = ({ record, state }: SeenMember): RankSight => ({ generation: record?.generation ?? 0, state });

/** `undefined` when launchd shows a service without a process and does not say whether it ever had one. */
function stateOf(record: PlacementMember | undefined, service: LaunchdService | undefined): MemberState | undefined {
  if (service === undefined) return unlistedState(record);
  switch (service.state) {
    case 'running':
      return record === undefined ? 'running' : runningState(record);
    case 'not-loaded':
      return record === undefined ? 'absent' : 'stopped';
    case 'waiting':
      return idleState(service);
  }
}

/** A service whose file was deleted is in no list, and its process lives on: then only the port tells. */
function unlistedState(record: PlacementMember | undefined): MemberState {
  if (record === undefined) return 'absent';
  return record.isListening ? 'joined' : 'stopped';
}

/** launchd counts from its bootstrap, so a service that a reboot loaded again is ready. */
function idleState({ runs, lastExit }: LaunchdService): MemberState | undefined {
  if (runs !== undefined) return runs === 0 ? 'ready' : 'exited';
  if (lastExit === undefined) return undefined;
  return lastExit === '(never exited)' ? 'ready' : 'exited';
}

const runningState = (record: PlacementMember): MemberState =>
  isJoined(record) ? 'joined' : record.isMeeting ? 'meeting' : 'running';

/** A follower that is to join at the endpoint's port has no port of its own: there only the leader listens. */
const isJoined = ({ rank, port, endpointPort, isListening }: PlacementMember): boolean =>
  port === 0 || isListening || (rank > 0 && port === endpointPort);

function startsOf(record: PlacementMember | undefined, facts: Facts): Known<number> {
  if (record === undefined || record.starts === 0) return known(0);
  const session = read(facts, bootSessionFact);
  if (session.kind === 'unknown') return session;
  return known(session.value.uuid === record.startedIn ? record.starts : 0);
}
