import type { ClusterLock, LockedShape } from '../../model/cluster-lock.ts';
import type { DesiredModel } from '../../model/desired.ts';
import type { ShapeFact } from '../../model/fit/model-shape.ts';

/** What was read of the headers of models, by name. */
export type ShapeFacts = Readonly<Record<string, ShapeFact>>;

/** Models with their shapes, and what the lock keeps of them. */
export interface SettledShapes {
  readonly models: readonly DesiredModel[];
  /** Absent when no shape is known. */
  readonly shapes?: Readonly<Record<string, LockedShape>>;
}

const own = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

/**
 * Adds to models the shapes that were read, else those that the lock has of the very same files. A shape follows from
 * the files, so that nobody has to agree to it.
 */
export function settleShapes(
  models: readonly DesiredModel[],
  { shapes = {} }: Pick<ClusterLock, 'shapes'>,
  read: ShapeFacts = {},
): SettledShapes {
  const settled = models.map((model) => withShape(model, own(shapes, model.name), own(read, model.name)));
  const kept = settled.flatMap(({ name, digest, shape }) =>
    digest === undefined || shape === undefined ? [] : [[name, { of: digest, shape }] as const],
  );
  return { models: settled, ...(kept.length === 0 ? {} : { shapes: Object.fromEntries(kept) }) };
}

function withShape(model: DesiredModel, locked: LockedShape | undefined, read: ShapeFact | undefined): DesiredModel {
  const { shapeUnknown: _, ...rest } = model;
  if (read?.kind === 'known') return { ...rest, shape: read.shape };
  if (locked !== undefined && locked.of === model.digest) return { ...rest, shape: locked.shape };
  return read === undefined ? model : { ...rest, shapeUnknown: read.why };
}
