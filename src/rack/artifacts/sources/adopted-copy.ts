import type { DesiredModel } from '../../../model/desired.ts';
import { shortDigest } from '../../../model/digest.ts';
import type { CopyFolder, Facts } from '../../../model/facts/fact-values.ts';
import { totalBytes } from '../../../model/model-bytes.ts';
import type { CopiedFile, TreeFile } from '../../../model/node-script.ts';
import type { Step } from '../../../model/step.ts';
import { nodePath } from '../../../node/paths/node-paths.ts';
import type { SoughtModel } from '../../../node/probes/model-copies.ts';
import { buildStep } from '../../build-step.ts';
import { readValue } from '../../fact.ts';
import { jobAct, type TreeWork, transferDeadlineMs } from '../trees/tree-steps.ts';
import { modelCopiesFact } from './model-copies-fact.ts';

/** A folder of other software from which a node takes files of a model. */
export interface AdoptedCopy {
  readonly layout: CopyFolder['layout'];
  readonly folder: string;
  /** The folder that no link may lead out of. */
  readonly fence: string;
  /** The model's files that are in the folder with the right size. */
  readonly files: readonly CopiedFile[];
  readonly bytes: number;
  /** Bytes of these files on the volume of the published models, where a clone needs no space. */
  readonly clonedBytes: number;
}

/** If the copy holds less than this share of the model, the plan ignores it. */
const leastShare = 0.1;

/** Preference among folders with the same number of bytes. */
const order: readonly CopyFolder['layout'][] = ['named', 'hub', 'exo', 'lmstudio', 'llamacpp', 'ollama'];

/** Layouts whose folder contains the files of several models. */
const isSharedLayout = (layout: CopyFolder['layout']): boolean => layout === 'ollama' || layout === 'llamacpp';

/**
 * What to search for on a node; undefined if a model has no public name and no folder, or must not be adopted. Without
 * a list of files, its folders are found but cannot be compared.
 */
export function soughtModel({
  name,
  digest,
  repository = '',
  files,
  adopt = [],
}: DesiredModel): SoughtModel | undefined {
  if (adopt === 'never') return undefined;
  const blobs = files.filter(({ path }) => path.endsWith('.gguf')).map(({ sha256 }) => sha256);
  if (repository === '' && adopt.length === 0 && blobs.length === 0) return undefined;
  return { name, ...(digest && { version: shortDigest(digest) }), repository, blobs, folders: adopt };
}

/** All folders on a node with files of this model, the best one first. */
function copiesOf(wanted: DesiredModel, facts: Facts): readonly AdoptedCopy[] {
  const folders = readValue(facts, modelCopiesFact)?.folders ?? [];
  const copies = folders
    .filter(({ model, leadsOutside }) => model === wanted.name && leadsOutside !== true)
    .map((copy) => compareCopy(wanted, copy));
  const rank = ({ layout }: AdoptedCopy): number => order.indexOf(layout);
  return copies.toSorted((a, b) => b.bytes - a.bytes || b.clonedBytes - a.clonedBytes || rank(a) - rank(b));
}

/** The folder from which a node takes this model; undefined if none has enough of it. */
export function bestCopy(wanted: DesiredModel, facts: Facts): AdoptedCopy | undefined {
  if (wanted.adopt === 'never') return undefined;
  const [best] = copiesOf(wanted, facts);
  return best !== undefined && best.bytes > 0 && best.bytes >= totalBytes(wanted.files) * leastShare ? best : undefined;
}

/** A folder of other software with a model, as a list of models shows it. */
export interface FoundCopy {
  readonly layout: CopyFolder['layout'];
  readonly folder: string;
  /** The number of the model's files that are there with the right size; absent while the list of files is unknown. */
  readonly matching?: number;
  readonly use: 'adopted' | 'other-copy' | 'too-little' | 'leads-outside' | 'list-unknown';
}

/** Every folder on a node that may have this model, and whether apply takes the files from it. */
export function foundCopies(wanted: DesiredModel, facts: Facts): readonly FoundCopy[] {
  if (wanted.adopt === 'never') return [];
  const best = bestCopy(wanted, facts);
  const folders = readValue(facts, modelCopiesFact)?.folders ?? [];
  return folders
    .filter(({ model }) => model === wanted.name)
    .map((copy): FoundCopy => {
      const { layout, folder, leadsOutside = false } = copy;
      if (leadsOutside) return { layout, folder, use: 'leads-outside' };
      if (wanted.digest === undefined) return { layout, folder, use: 'list-unknown' };
      const matching = compareCopy(wanted, copy).files.length;
      const isBest = best?.folder === folder && best.layout === layout;
      return { layout, folder, matching, use: isBest ? 'adopted' : best === undefined ? 'too-little' : 'other-copy' };
    });
}

/** The node clones what a folder on it has. The model's own source then provides what is missing. */
export function adoptStep({ property, tree }: TreeWork, { layout, folder, fence, files, bytes }: AdoptedCopy): Step {
  const path = (text: string) => nodePath(text as `/${string}`);
  const args = {
    tree,
    files,
    folder: path(folder),
    fence: path(fence),
    ...(isSharedLayout(layout) ? { isShared: true as const } : {}),
  };
  return buildStep({
    name: `${property.address}/adopt`,
    class: 'job',
    act: jobAct(tree, { name: 'adopt-model', args }),
    towards: [property],
    deadlineMs: transferDeadlineMs(bytes),
  });
}

function compareCopy(wanted: DesiredModel, copy: CopyFolder): AdoptedCopy {
  const named = namedFiles(wanted, copy);
  const files: CopiedFile[] = [];
  let clonedBytes = 0;
  for (const file of wanted.files) {
    const found = named(file);
    if (found?.sizeBytes !== file.sizeBytes) continue;
    files.push({ ...file, from: found.path });
    clonedBytes += found.isOnVolume ? file.sizeBytes : 0;
  }
  const { layout, folder } = copy;
  const fence = layout === 'hub' ? folder.replace(/\/snapshots\/[^/]+$/, '') : folder;
  return { layout, folder, fence, files, bytes: totalBytes(files), clonedBytes };
}

/** Finds a file of the model in a folder by the name that the layout gives it. */
function namedFiles({ repository = '' }: DesiredModel, { layout, files }: CopyFolder) {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const flat = `${repository.replace('/', '_')}_`;
  return ({ path, sha256 }: TreeFile): CopyFolder['files'][number] | undefined => {
    const base = path.slice(path.lastIndexOf('/') + 1);
    if (layout === 'ollama') return byPath.get(`sha256-${sha256}`);
    if (layout === 'llamacpp') return byPath.get(`${flat}${path.replaceAll('/', '_')}`) ?? byPath.get(`${flat}${base}`);
    // LM Studio and people often leave out a repository's folders.
    return byPath.get(path) ?? byPath.get(base);
  };
}
