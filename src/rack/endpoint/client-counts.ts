import type { DoorSight } from '../../model/gateway.ts';
import { type Known, unknown } from '../../model/known.ts';
import type { PlacementSurvey } from '../placement/check/placement-survey.ts';
import { doorSight } from '../placement/doors/door-sight.ts';
import type { View } from '../resource.ts';

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
    if (target === undefined) {
      return [{ placement: name, sight: unknown('unreachable', `${leader} was not observed`) }];
    }
    const sight = doorSight(target.facts, name, placement.endpointPort);
    return sight === undefined ? [] : [{ placement: name, sight }];
  });
}
