import { examine } from '../doctor/examination.ts';
import type { FleetObservation } from '../doctor/fleet-observation.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import type { View } from './resource.ts';
import { fleetFindings } from './stop-first.ts';

/** What a view is made from. */
export interface ViewParts {
  /** Settled: with the networks of its links and the digests of its archives. */
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** The nodes that may be changed. */
  readonly targets: readonly NodeName[];
}

/** Looks at the fleet once, for all resources. Names that the file does not have are left out. */
export function viewOf({ desired, observation, targets }: ViewParts): View {
  const examination = examine(desired, observation);
  return {
    desired,
    observation,
    asked: desired.nodes.map(({ name }) => name).filter((name) => targets.includes(name)),
    targets: examination.nodes.filter(({ name }) => targets.includes(name)),
    examination,
    findings: fleetFindings(desired, observation),
  };
}
