import { addressTowards } from '../../../drivers/contract/addresses.ts';
import type { HeldBytes, RuntimeDriver } from '../../../drivers/contract/driver.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeFit } from '../../../model/fit.ts';
import type { DoorSight } from '../../../model/gateway.ts';
import { given } from '../../../model/given.ts';
import { type Known, seenValue, unknown } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import type { View } from '../../resource.ts';
import { doorSight } from '../endpoint/doors.ts';
import { type MeshFailure, type MeshState, meshFailure, seenTransport } from '../state/judge-mesh.ts';
import { awayNodes } from '../state/layouts.ts';
import { everyCase, isIdle, type PlacementCase, placementCases } from '../state/placement-cases.ts';
import { fleetMemory } from './placement-checks.ts';

/** What the doorman before a published placement has counted. */
export interface ClientCounts {
  readonly placement: string;
  readonly sight: Known<DoorSight>;
}

/**
 * The counts of every published placement whose leader this run looked at, in the order of the file; none of one that
 * no doorman knows yet.
 *
 * @param surveys of the same look: they say which node leads now
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
    if (target === undefined) return [{ placement: name, sight: unknown('unreachable', `${leader} was not observed`) }];
    const sight = doorSight(target.facts, name, placement.endpointPort);
    return sight === undefined ? [] : [{ placement: name, sight }];
  });
}

/**
 * How a placement is, in one word: `hung` runs and gives no token, `changed` runs and is not what the file says, of a
 * `partial` one some ranks run, a `dead` one was started and none of it runs, `not-placed` was never started.
 */
export type PlacementState = 'serving' | 'hung' | 'changed' | 'partial' | 'dead' | 'stopped' | 'not-placed' | 'unknown';

/** One placement of the file as a table shows it. */
export interface PlacementSurvey extends Pick<DesiredPlacement, 'name' | 'nodes' | 'transport' | 'sharding'> {
  readonly state: PlacementState;
  /** Why it is said to be so; for `unknown`, what could not be seen. Text of nodes in it is not escaped. */
  readonly evidence: string;
  /** What the file wants. */
  readonly wanted: DesiredPlacement['state'];
  /** Beside what the file wants; `not-asked` when it has members that this run did not look at. */
  readonly standing: 'met' | 'differs' | 'unknown' | 'not-asked';
  /** The count of its starts; absent where it has none, or where not every member was seen. */
  readonly generation?: number;
  /** Where it gave its token. */
  readonly endpoint?: { readonly node: NodeName; readonly port: number };
  /** How its ranks talk, as their logs say it. */
  readonly seenTransport?: 'rdma' | 'tcp';
  /**
   * What shows how its ranks talk: their logs, or that the runtime agreed to it at the start; `none` where the file only
   * declares it. Only while several nodes run it.
   */
  readonly transportProof?: 'log' | 'start' | 'none';
  /** As the last start has measured it; only while it serves. */
  readonly firstTokenMs?: number;
  readonly tokensPerSecond?: number;
  /** What its nodes hold of the model, as the log of its leader says it; only while it runs. */
  readonly memory?: readonly HeldMemory[];
  /** Set where it talks over that against the file, and did so before its last restart too. */
  readonly staysOn?: 'tcp';
  /** Set where it gave no token in time and is known to serve by the answers of others. */
  readonly proof?: 'traffic';
  /** Which rank failed first and what its log means, where one says it; only of one that does not serve. */
  readonly failure?: MeshFailure;
  /** Set while it runs on its fallback: all else here is about that; and which of its own nodes nobody could see. */
  readonly onFallback?: { readonly contextTokens: number; readonly away: readonly NodeName[] };
}

const states: Readonly<Record<MeshState, PlacementState>> = {
  serving: 'serving',
  silent: 'hung',
  changed: 'changed',
  partial: 'partial',
  dead: 'dead',
  stopped: 'stopped',
  ready: 'stopped',
  absent: 'not-placed',
  unknown: 'unknown',
};

/** Every placement of the file, judged as a plan judges it, in the order of the file's names. */
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

/** What serves on its fallback is not where the file wants it. */
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
  const evidence = `not looked at: ${others.join(', ')}`;
  return { ...fileHalf(placement), state: 'unknown', evidence, standing: 'not-asked' };
}

function surveyOf(one: PlacementCase, view: View): PlacementSurvey {
  const { placement, leader, mesh, configuration } = one;
  const generation = mesh.members.every(({ seen }) => seen.kind === 'known') ? mesh.generation : 0;
  // A digest that nobody knows is compared with none: then nobody can say whether what runs is what the file says.
  const blindness = configuration.kind === 'incomplete' && configuration.digest === undefined && configuration.missing;
  const isBlind = mesh.state === 'changed' && blindness !== false;
  const state = isBlind ? 'unknown' : states[mesh.state];
  return {
    ...fileHalf(placement),
    state,
    evidence: isBlind ? `it runs, and ${blindness}` : mesh.evidence,
    standing: standingOf(one, state),
    ...given({
      staysOn: mesh.staysOn,
      proof: state === 'serving' ? mesh.proof : undefined,
      generation: generation === 0 ? undefined : generation,
      endpoint: state === 'serving' ? { node: leader, port: placement.endpointPort } : undefined,
    }),
    ...saidOf(one, state, view),
  };
}

const runs: readonly PlacementState[] = ['serving', 'hung', 'changed', 'partial'];
const failed: readonly PlacementState[] = ['hung', 'partial', 'dead', 'stopped'];

/** What the ranks say themselves, and what the last start has measured. */
function saidOf({ placement, mesh, driver }: PlacementCase, state: PlacementState, { desired, observation }: View) {
  if (driver === undefined) return {};
  const isRunning = runs.includes(state);
  const records = mesh.members.map(({ seen }) => seenValue(seen)?.record);
  const said = records.map((record) => record?.said ?? []);
  const transport = isRunning ? seenTransport(driver, said) : undefined;
  const golden = state === 'serving' ? records[0]?.golden : undefined;
  const isFailed = placement.state === 'serving' && failed.includes(state);
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

/** A dialogue ends well only where the runtime itself names the declared transport. */
function proofOf(
  seen: 'rdma' | 'tcp' | undefined,
  { dialogue }: Pick<RuntimeDriver, 'dialogue'>,
): NonNullable<PlacementSurvey['transportProof']> {
  if (seen !== undefined) return 'log';
  return dialogue === undefined ? 'none' : 'start';
}

/** Whether only the file says that its ranks talk over RDMA. TCP needs no proof: it is what a mesh falls back to. */
export const isRdmaUnseen = ({
  transport,
  transportProof,
}: Pick<PlacementSurvey, 'transport' | 'transportProof'>): boolean => transport === 'rdma' && transportProof === 'none';

function standingOf({ placement, mesh }: PlacementCase, state: PlacementState): PlacementSurvey['standing'] {
  if (placement.state === 'stopped' && mesh.state !== 'unknown') return isIdle(mesh) ? 'met' : 'differs';
  if (state === 'unknown') return 'unknown';
  return state === placement.state ? 'met' : 'differs';
}

/** What one node holds of a model, as a log says it, beside what was predicted. */
export interface HeldMemory {
  readonly node: NodeName;
  /** In bytes, as the log counts them: to two decimals of a MiB. */
  readonly held: Pick<HeldBytes, 'weights' | 'cache' | 'compute'>;
  /** By the shape of the model; absent where that is not known. */
  readonly predicted?: { readonly weights: number; readonly cache: number };
}

/**
 * What each node of a placement holds, in rank order, by the log of its leader: a worker is told by its address on the
 * cable to the leader.
 */
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
    // A worker whose address nobody knows is none of those that the log names.
    const own = node !== leader && address === undefined ? undefined : held.find((one) => one.address === address);
    if (own === undefined) return [];
    const { weights, cache, compute } = own;
    const need = fits.find((fit) => fit.node === node)?.shares.find(({ placement }) => placement === name)?.need;
    const predicted = need && { weights: need.weights, cache: need.cache };
    return [{ node, held: { weights, cache, compute }, ...given({ predicted }) }];
  });
}

/** A log rounds every buffer; a device has some of them. */
const roundingBytes = 65_536;

/** Whether a node holds what was predicted, as far as a log can say it. */
export const isAsPredicted = ({ held, predicted }: HeldMemory): boolean =>
  predicted !== undefined &&
  Math.abs(held.weights - predicted.weights) <= roundingBytes &&
  Math.abs(held.cache - predicted.cache) <= roundingBytes;
