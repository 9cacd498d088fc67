import type { ArchiveFact, FolderFact, PlaceOf, SourceFacts } from '../../desired/settle/settle-trees.ts';
import type { SourceKind } from '../../model/desired.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { withProgress } from '../terminal/console.ts';
import type { Run } from '../verb.ts';

/**
 * Lists the files of sources of one kind with their sizes and digests, or the reason why they are unknown. How a node
 * gets the bytes is the other half of a source: `Fetch` in `src/rack/artifacts/sources`.
 */
export type List<K extends SourceKind> = (
  run: Run,
  opened: Pick<OpenedCluster, 'fleet' | 'path'>,
  places: readonly PlaceOf<K>[],
) => Promise<Partial<Pick<SourceFacts, 'archives' | 'folders'>>>;

/** Without prototypes, because `constructor` is a valid name of a model. */
export const noFacts = (): { archives: Record<string, ArchiveFact>; folders: Record<string, FolderFact> } => ({
  archives: Object.create(null),
  folders: Object.create(null),
});

/** Reads the file lists of models on servers one after another. */
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
