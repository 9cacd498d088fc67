import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { examine } from '../../rack/examination.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import type { View } from '../../rack/resource.ts';
import { fleetFindings } from '../diagnose/stop-first.ts';
import { findingBlockers } from './finding-blockers.ts';

/** What a view is made from. */
export interface ViewParts {
  /** Settled: with the networks of its links and the digests of its archives. */
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** The nodes that may be changed. */
  readonly targets: readonly NodeName[];
  /** Those that the goal restarts or switches off; none where absent. */
  readonly restarting?: readonly NodeName[];
  /** Whether the goal takes doormen of earlier files away; not where absent. */
  readonly endsDoormen?: boolean;
  /** Placements that are started again when the goal is reached; none where absent. */
  readonly comingBack?: readonly string[];
  /** Placements that go on on their fallback, or though they are to be stopped; none where absent. */
  readonly staying?: readonly string[];
  /** Keys of ranks of those that are stopped each by itself; none where absent. */
  readonly stopping?: readonly string[];
}

/** Looks at the fleet once, for all resources. Names that the file does not have are left out. */
export function viewOf({ desired, observation, targets, ...goal }: ViewParts): View {
  const { restarting = [], endsDoormen = false, comingBack = [], staying = [], stopping = [] } = goal;
  const examination = examine(desired, observation);
  const view: View = {
    desired,
    observation,
    asked: desired.nodes.map(({ name }) => name).filter((name) => targets.includes(name)),
    restarting,
    endsDoormen,
    comingBack,
    staying,
    stopping,
    targets: examination.nodes.filter(({ name }) => targets.includes(name)),
    examination,
    findings: fleetFindings(desired, observation),
    findingBlockers: (kind) => findingBlockers(view, kind),
  };
  return view;
}
