import { configurePlacement } from '../../../drivers/configure-placement.ts';
import { changedSettings, placementAsDeclared } from '../../../model/declared-settings.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import { seenValue } from '../../../model/known.ts';
import type { View } from '../../resource.ts';
import { everyCase, type PlacementCase } from './placement-cases.ts';
import { seenNames } from './seen-names.ts';

/** A placement whose settings in the file differ from those of its last start. */
export interface ChangedPlacement {
  readonly name: string;
  /** The differences: `context 8k (file: 16k)`. */
  readonly words: string;
  /** True if the older settings are known exactly, because their digest is the recorded one. */
  readonly isKnown: boolean;
}

/** The fleet with the settings of the last starts, as far as records have them, and what differs from the file. */
export function withRecordedSettings(view: View): {
  readonly desired: DesiredFleet;
  readonly changed: readonly ChangedPlacement[];
} {
  const found = everyCase(view).flatMap((one) => changeOf(one, view) ?? []);
  const placements = view.desired.placements.map((one) => found.find(({ name }) => name === one.name)?.before ?? one);
  return { desired: { ...view.desired, placements }, changed: found.map(({ before: _, ...one }) => one) };
}

function changeOf(
  { placement, mesh, configuration, elsewhere }: PlacementCase,
  view: View,
): (ChangedPlacement & { readonly before?: DesiredPlacement }) | undefined {
  const record = seenValue(mesh.ranks[0]?.seen)?.record;
  const { digest, declared } = configuration;
  if (elsewhere !== undefined || record === undefined || digest === undefined || record.digest === digest)
    return undefined;
  const words = changedSettings(record.declared, declared, view.desired.versions);
  const before = placementAsDeclared(placement, record.declared);
  // `env` and `args` are not recorded, because they may be secrets; the digest includes them.
  const isKnown = before !== undefined && digestOf(before, view) === record.digest;
  return { name: placement.name, words, isKnown, ...(isKnown ? { before } : {}) };
}

const digestOf = (placement: DesiredPlacement, view: View): string | undefined =>
  configurePlacement(placement, view.desired, 0, seenNames(view)).digest;
