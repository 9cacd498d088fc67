import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';

/** The name of a replica. It depends only on names in the file, so that no other replica changes when a node joins. */
export const replicaName = (placement: string, node: string): string => `${placement}-${node}`;

/** A placement's name in the file. */
export const nameInFile = ({ name, replica }: Pick<DesiredPlacement, 'name' | 'replica'>): string =>
  replica?.of ?? name;

/** The other replicas of a replica's model, in the file's order; empty for any other placement. */
export const otherReplicas = (
  { placements }: Pick<DesiredFleet, 'placements'>,
  { name, replica }: DesiredPlacement,
): readonly DesiredPlacement[] =>
  inFileOrder(placements.filter((one) => replica !== undefined && one.replica?.of === replica.of && one.name !== name));

/** The placements that a name means: one placement, or all replicas of the placement with this name in the file. */
export const placementsFor = (
  name: string,
  { placements }: Pick<DesiredFleet, 'placements'>,
): readonly DesiredPlacement[] =>
  inFileOrder(placements.filter((one) => one.name === name || one.replica?.of === name));

/** The names of placements that names mean. An unknown name remains. */
export const placementNamesFor = (
  names: readonly string[],
  fleet: Pick<DesiredFleet, 'placements'>,
): readonly string[] =>
  names.flatMap((name) => {
    const found = placementsFor(name, fleet).map((one) => one.name);
    return found.length === 0 ? [name] : found;
  });

const inFileOrder = (placements: readonly DesiredPlacement[]): readonly DesiredPlacement[] =>
  placements.toSorted((a, b) => (a.replica?.at ?? 0) - (b.replica?.at ?? 0));
