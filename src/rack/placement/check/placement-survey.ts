import { addressTowards } from '../../../drivers/contract/addresses.ts';
import type { HeldBytes, RuntimeDriver } from '../../../drivers/contract/driver.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeFit } from '../../../model/fit.ts';
import type { EndpointStatus } from '../../../model/gateway.ts';
import { given } from '../../../model/given.ts';
import { type Known, seenValue, unknown } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import type { View } from '../../resource.ts';
import { endpointStatus } from '../mesh/gateway-steps.ts';
import { type MeshFailure, meshFailure, seenTransport } from '../mesh/read-mesh.ts';
import { awayNodes } from '../state/layouts.ts';
import type { MeshState } from '../state/mesh-reading.ts';
import { everyCase, isIdle, type PlacementCase, placementCases } from '../state/placement-cases.ts';
import { fleetMemory } from './placement-checks.ts';

export interface ClientCounts {
  readonly placement: string;
  readonly status: Known<EndpointStatus>;
}

/**
 * The counts of every published placement whose leader this run observed, in file order; none if no gateway serves it
 * yet.
 * @param surveys of the same observation; they name the current leader
 */
export function clientCounts(
  { desired, asked, targets }: Pick<View, 'desired' | 'asked' | 'targets'>,
  surveys: readonly Pick<PlacementSurvey, 'name' | 'nodes'>[],
): readonly ClientCounts[] {
  const published = desired.placements.filter(({ publication }) => publication !== undefined);
  return surveys.flatMap(({ name, nodes: [leader] }): readonly ClientCounts[] => {
    const placement = published.find((one) => one.name === name);
    if (placement === undefined || leader === undefined || !asked.includes(leader)) return [];
    const target = targets.find((one) => one.desired.name === leader);
    if (target === undefined)
      return [{ placement: name, status: unknown('unreachable', `${leader} was not observed`) }];
    const status = endpointStatus(target.facts, name, placement.endpointPort);
    return status === undefined ? [] : [{ placement: name, status }];
  });
}

export interface SuspendedRank {
  readonly node: NodeName;
  readonly rank: number;
  readonly pids: readonly number[];
}

export interface PlacementSurvey extends Pick<DesiredPlacement, 'name' | 'nodes' | 'transport' | 'sharding'> {
  readonly state: MeshState;
  /** The reason for the state; for `unknown`, what could not be observed. Text from nodes is not escaped. */
  readonly evidence: string;
  readonly wanted: DesiredPlacement['state'];
  /** The comparison with the desired state; `not-asked` if this run did not observe all ranks. */
  readonly standing: 'met' | 'differs' | 'unknown' | 'not-asked';
  /** The number of its starts; absent if it was never started, or if a rank was not observed. */
  readonly generation?: number;
  readonly endpoint?: { readonly node: NodeName; readonly port: number };
  readonly seenTransport?: 'rdma' | 'tcp';
  /**
   * The proof of the transport: from logs, or because the runtime confirmed it at the start; `none` if only the file
   * names it. Set only while several nodes run it.
   */
  readonly transportProof?: 'log' | 'start' | 'none';
  /** Measured by the last start; set only while it serves. */
  readonly firstTokenMs?: number;
  readonly tokensPerSecond?: number;
  /** The model's memory per node, according to the leader's log; set only while it runs. */
  readonly memory?: readonly HeldMemory[];
  /** Set if it uses TCP although the file wants RDMA, both now and before its last restart. */
  readonly staysOn?: 'tcp';
  /** Set if it returned no token in time although clients get answers. */
  readonly proof?: 'traffic';
  readonly suspended?: readonly SuspendedRank[];
  /** Set if its state is unknown only because its endpoint was not asked for a token. */
  readonly unasked?: true;
  /** Set if all its ranks run, but its runtime has dropped its instance of the placement. */
  readonly instance?: 'missing';
  /** Set if it runs, does not match the file, and returned no token either. */
  readonly silent?: true;
  /** The first failing rank and what its log means, if known; set only if it does not serve, or uses TCP instead of RDMA. */
  readonly failure?: MeshFailure;
  /**
   * Set while it runs on its fallback, which all other fields then describe; `away` lists its own nodes that could not
   * be observed.
   */
  readonly onFallback?: { readonly contextTokens: number; readonly away: readonly NodeName[] };
}

export function surveyPlacements(view: View): readonly PlacementSurvey[] {
  const cases = placementCases(view);
  const every = everyCase(view);
  return view.desired.placements.map((placement) => {
    const isIt = (judged: PlacementCase): boolean => judged.placement.name === placement.name;
    const elsewhere = every.find(isIt)?.elsewhere;
    if (elsewhere !== undefined) return fallbackSurvey(placement, elsewhere, view);
    const one = cases.find(isIt);
    return one === undefined ? unaskedSurvey(placement, view) : surveyOf(one, view);
  });
}

/** A placement that serves on its fallback does not match the file. */
function fallbackSurvey(own: DesiredPlacement, elsewhere: PlacementCase, view: View): PlacementSurvey {
  const survey = surveyOf(elsewhere, view);
  const isKnownToDiffer = survey.standing === 'met' && own.state === 'serving';
  const away = awayNodes(own.nodes, view.observation);
  return {
    ...survey,
    standing: isKnownToDiffer ? 'differs' : survey.standing,
    onFallback: { contextTokens: elsewhere.placement.contextTokens, away },
  };
}

const fileHalf = ({ name, nodes, transport, sharding, state }: DesiredPlacement) => ({
  name,
  nodes,
  transport,
  ...given({ sharding }),
  wanted: state,
});

function unaskedSurvey(placement: DesiredPlacement, { asked }: View): PlacementSurvey {
  const others = placement.nodes.filter((node) => !asked.includes(node));
  const evidence = `not observed: ${others.join(', ')}`;
  return { ...fileHalf(placement), state: 'unknown', evidence, standing: 'not-asked' };
}

function surveyOf(one: PlacementCase, view: View): PlacementSurvey {
  const { placement, leader, mesh, configuration } = one;
  const generation = mesh.ranks.every(({ seen }) => seen.kind === 'known') ? mesh.generation : 0;
  // Without a known digest, the running placement cannot be compared with the file.
  const blindness = configuration.kind === 'incomplete' && configuration.digest === undefined && configuration.missing;
  const suspended = mesh.ranks.flatMap(({ node, seen }, rank): readonly SuspendedRank[] => {
    const pids = seenValue(seen)?.suspended;
    return pids === undefined ? [] : [{ node, rank, pids }];
  });
  const isBlind = mesh.state === 'changed' && blindness !== false;
  const state = isBlind ? 'unknown' : mesh.state;
  return {
    ...fileHalf(placement),
    state,
    evidence: isBlind ? `it runs, but ${blindness}` : mesh.evidence,
    standing: standingOf(one, state),
    ...given({
      staysOn: mesh.usedTcp === 'again' ? ('tcp' as const) : undefined,
      proof: mesh.seen === 'answers-clients' ? ('traffic' as const) : undefined,
      suspended: suspended.length === 0 ? undefined : suspended,
      unasked: mesh.seen === 'token-unobserved' ? (true as const) : undefined,
      instance: mesh.seen === 'instance-missing' ? ('missing' as const) : undefined,
      silent: state === 'changed' && isSilent(mesh) ? (true as const) : undefined,
      generation: generation === 0 ? undefined : generation,
      endpoint: state === 'serving' ? { node: leader, port: placement.endpointPort } : undefined,
    }),
    ...saidOf(one, state, view),
  };
}

/** True if its endpoint returned no token, unless a client's request prevented the question. */
function isSilent({ ranks }: PlacementCase['mesh']): boolean {
  const token = seenValue(ranks[0]?.seen)?.record?.token.kind;
  return token !== 'answered' && token !== 'in-flight';
}

const runs: readonly MeshState[] = ['serving', 'hung', 'changed', 'partial'];
const failed: readonly MeshState[] = ['hung', 'partial', 'dead', 'stopped'];

function saidOf({ placement, mesh, driver }: PlacementCase, state: MeshState, { desired, observation }: View) {
  if (driver === undefined) return {};
  const isRunning = runs.includes(state);
  const records = mesh.ranks.map(({ seen }) => seenValue(seen)?.record);
  const said = records.map((record) => record?.said ?? []);
  const transport = isRunning ? seenTransport(driver, said) : undefined;
  const golden = state === 'serving' ? records[0]?.golden : undefined;
  const isFailed = placement.state === 'serving' && (failed.includes(state) || mesh.usedTcp !== 'no');
  const failure = isFailed ? meshFailure(mesh, driver) : undefined;
  const { held = [] } = isRunning ? driver.observe(said[0] ?? []) : {};
  const alone = { ...desired, placements: [{ ...placement, state: 'serving' as const }] };
  const memory = held.length === 0 ? [] : heldMemory({ placement, held }, desired, fleetMemory(alone, observation));
  return given({
    seenTransport: transport,
    transportProof: isRunning && placement.nodes.length > 1 ? proofOf(transport, driver) : undefined,
    firstTokenMs: golden?.firstTokenMs,
    tokensPerSecond: golden?.tokensPerSecond,
    memory: memory.length === 0 ? undefined : memory,
    failure,
  });
}

/** A start dialogue succeeds only if the runtime confirms the declared transport. */
function proofOf(
  seen: 'rdma' | 'tcp' | undefined,
  { dialogue }: Pick<RuntimeDriver, 'dialogue'>,
): NonNullable<PlacementSurvey['transportProof']> {
  if (seen !== undefined) return 'log';
  return dialogue === undefined ? 'none' : 'start';
}

/** True if only the file says that the ranks use RDMA. TCP needs no proof, because a mesh falls back to it. */
export const isRdmaUnseen = ({
  transport,
  transportProof,
}: Pick<PlacementSurvey, 'transport' | 'transportProof'>): boolean => transport === 'rdma' && transportProof === 'none';

function standingOf({ placement, mesh }: PlacementCase, state: MeshState): PlacementSurvey['standing'] {
  if (placement.state === 'stopped' && mesh.state !== 'unknown') return isIdle(mesh) ? 'met' : 'differs';
  if (state === 'unknown') return 'unknown';
  return state === placement.state ? 'met' : 'differs';
}

/** One node's memory for a model according to a log, with the prediction. */
export interface HeldMemory {
  readonly node: NodeName;
  /** In bytes; the log rounds to 0.01 MiB. */
  readonly held: Pick<HeldBytes, 'weights' | 'cache' | 'compute'>;
  /** From the model's shape; absent if the shape is unknown. */
  readonly predicted?: { readonly weights: number; readonly cache: number };
}

/** The model's memory per node in rank order, from the leader's log, which names workers by cable address. */
export function heldMemory(
  {
    placement: { name, nodes },
    held,
  }: { readonly placement: Pick<DesiredPlacement, 'name' | 'nodes'>; readonly held: readonly HeldBytes[] },
  { thunderbolt }: Pick<DesiredFleet, 'thunderbolt'>,
  fits: readonly NodeFit[],
): readonly HeldMemory[] {
  const [leader] = nodes;
  if (leader === undefined) return [];
  return nodes.flatMap((node): readonly HeldMemory[] => {
    const address = node === leader ? undefined : addressTowards(thunderbolt, node, leader);
    // A worker with an unknown address cannot be found in the log.
    const own = node !== leader && address === undefined ? undefined : held.find((one) => one.address === address);
    if (own === undefined) return [];
    const { weights, cache, compute } = own;
    const need = fits.find((fit) => fit.node === node)?.shares.find(({ placement }) => placement === name)?.need;
    const predicted = need && { weights: need.weights, cache: need.cache };
    return [{ node, held: { weights, cache, compute }, ...given({ predicted }) }];
  });
}

/** A log rounds every buffer, and a device has several. */
const roundingBytes = 65_536;

export const isAsPredicted = ({ held, predicted }: HeldMemory): boolean =>
  predicted !== undefined &&
  Math.abs(held.weights - predicted.weights) <= roundingBytes &&
  Math.abs(held.cache - predicted.cache) <= roundingBytes;
