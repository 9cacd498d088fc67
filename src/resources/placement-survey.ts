import type { Mesh, MeshState } from '../mesh/judge-mesh.ts';
import type { DesiredPlacement } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { type PlacementCase, placementCases } from './placement-cases.ts';
import { isIdle } from './placement-properties.ts';
import type { View } from './resource.ts';

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
  return view.desired.placements.map((placement) => {
    const one = cases.find((judged) => judged.placement.name === placement.name);
    return one === undefined ? unaskedSurvey(placement, view) : surveyOf(one);
  });
}

const fileHalf = ({ name, nodes, transport, sharding, state }: DesiredPlacement) => ({
  name,
  nodes,
  transport,
  ...(sharding === undefined ? {} : { sharding }),
  wanted: state,
});

function unaskedSurvey(placement: DesiredPlacement, { asked }: View): PlacementSurvey {
  const others = placement.nodes.filter((node) => !asked.includes(node));
  const evidence = `not looked at: ${others.join(', ')}`;
  return { ...fileHalf(placement), state: 'unknown', evidence, standing: 'not-asked' };
}

function surveyOf(one: PlacementCase): PlacementSurvey {
  const { placement, leader, mesh, configuration } = one;
  const generation = mesh.members.every(({ seen }) => seen.kind === 'known') ? mesh.generation : 0;
  // A digest that nobody knows is compared with none: then nobody can say whether what runs is what the file says.
  const isBlind = mesh.state === 'changed' && configuration.kind === 'incomplete';
  const state = isBlind ? 'unknown' : states[mesh.state];
  return {
    ...fileHalf(placement),
    state,
    evidence: isBlind ? `it runs, and ${configuration.missing}` : mesh.evidence,
    standing: standingOf(one, state),
    ...(generation === 0 ? {} : { generation }),
    ...(state === 'serving' ? { endpoint: { node: leader, port: placement.endpointPort } } : {}),
  };
}

function standingOf({ placement, mesh }: PlacementCase, state: PlacementState): PlacementSurvey['standing'] {
  if (placement.state === 'stopped' && isKnown(mesh)) return isIdle(mesh) ? 'met' : 'differs';
  if (state === 'unknown') return 'unknown';
  return state === placement.state ? 'met' : 'differs';
}

const isKnown = ({ state }: Mesh): boolean => state !== 'unknown';
