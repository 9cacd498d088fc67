import type { ModelSource, Release, SourceKind } from '../../../model/desired.ts';
import type { Digest } from '../../../model/digest.ts';
import { given } from '../../../model/given.ts';
import { totalBytes } from '../../../model/model-bytes.ts';
import type { DownloadHours, FetchSource, JobArgs, PeerPlan, TreeFile } from '../../../model/node-script.ts';
import type { Step } from '../../../model/step.ts';
import { buildStep } from '../../build-step.ts';
import { jobAct, type TreeWork, transferDeadlineMs } from '../trees/tree-steps.ts';

/** The archive of a runtime or, without a format, of a commit. */
interface ReleaseBytes {
  readonly kind: 'release';
  readonly release: Release;
  readonly format?: JobArgs['fetch-archive']['archive'];
  readonly sha256: Digest;
  readonly sizeBytes: number;
}

/** The files of a model or an archive, and where they come from. */
export type Bytes<K extends SourceKind> = Extract<
  (ModelSource & { readonly files: readonly TreeFile[] }) | ReleaseBytes,
  { readonly kind: K }
>;

/**
 * The steps that bring bytes from a source of this kind into a staging folder; the next step waits for the last one.
 * How this computer knows the bytes is the other half of a source: `List` in `src/cli/sources`.
 */
export type Fetch<K extends SourceKind> = (work: TreeWork, bytes: Bytes<K>, use: NetworkUse) => readonly Step[];

/** How a Mac gets bytes: the account that downloads them (undefined means root), and the other Macs. */
export interface NetworkUse {
  readonly account?: string | undefined;
  readonly maxBytesPerSecond?: number | undefined;
  readonly hours?: DownloadHours | undefined;
  readonly peers?: PeerPlan | undefined;
  /** True if an earlier job has verified every file. */
  readonly isPrepared?: true | undefined;
  /** The steps before, one of which prepares the staging folder. */
  readonly needs: readonly Step[];
}

/** The node fetches the files, however long that takes, and needs no connection to the controller meanwhile. */
export function fetchFiles(
  { property, tree }: TreeWork,
  files: readonly TreeFile[],
  source: FetchSource,
  { needs, ...use }: Pick<NetworkUse, 'needs' | 'peers' | 'isPrepared'>,
): readonly Step[] {
  return [
    buildStep({
      name: `${property.address}/fetch`,
      class: 'job',
      act: jobAct(tree, { name: 'fetch-model', args: { tree, files, source, ...given(use) } }),
      towards: [property],
      needs,
      deadlineMs: transferDeadlineMs(totalBytes(files)),
    }),
  ];
}
