import type { ArchiveFact, FolderFact, PlaceOf, SourceFacts } from '../../desired/settle/settle-trees.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { SourceKind, UnreadSource } from '../../model/desired.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { isAboutTrust } from '../cluster/trust.ts';
import { withProgress } from '../terminal/console.ts';
import type { Run } from '../verb.ts';

/**
 * Finds out the sizes and digests of the files of sources of this kind, or why they are unknown. How a node gets the
 * bytes is the other half of a source: `Fetch` in `src/rack/artifacts/sources`.
 */
export type List<K extends SourceKind> = (
  run: Run,
  opened: Pick<OpenedCluster, 'fleet' | 'path'>,
  places: readonly PlaceOf<K>[],
) => Promise<Partial<Pick<SourceFacts, 'archives' | 'folders'>>>;

/** A question to a server that has no answer. */
export const problem = (detail: string, hint: string): FleetError => failure('model/unresolved', { detail, hint });

/** The answer, or the {@link problem} with it after these words. */
export async function answered<T>(about: string, ask: () => Promise<T>): Promise<T | UnreadSource> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof FleetError) || isAboutTrust(error)) throw error;
    const [{ detail, hint }] = error.diagnostics;
    return { kind: 'unresolved', detail: `${about}${plainText(detail)}`, hint };
  }
}

/** Without prototypes, because `constructor` is a valid name of a model. */
export const noFacts = (): { archives: Record<string, ArchiveFact>; folders: Record<string, FolderFact> } => ({
  archives: Object.create(null),
  folders: Object.create(null),
});

export function readLists<Place extends { readonly name: string }>(
  run: Run,
  places: readonly Place[],
  read: (place: Place) => FolderFact | Promise<FolderFact>,
) {
  const { folders } = noFacts();
  return withProgress(run.console, ['reading file lists', places], async (done) => {
    for (const place of places) {
      folders[place.name] = await read(place);
      done(place.name);
    }
    return { folders };
  });
}
