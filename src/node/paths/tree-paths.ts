import { shortDigest } from '../../model/digest.ts';
import type { NodePath } from '../../model/node-path.ts';
import type { JobArgs, TreeId } from '../../model/node-script.ts';
import { below, place } from './node-paths.ts';

/** Where the versions of a runtime, or of a model, lie. */
export const versionsFolder = ({ kind, name }: Pick<TreeId, 'kind' | 'name'>): NodePath =>
  below(place.opt, `${kind}s/${name}`);

/** The published tree: `/opt/meshwright/<kind>s/<name>/<first 16 digits>`. */
export const treeFolder = (tree: TreeId): NodePath => below(versionsFolder(tree), shortDigest(tree.digest));

/** The link that names the version of a runtime in use. */
export const currentLink = (name: string): NodePath => below(versionsFolder({ kind: 'runtime', name }), 'current');

/** What folders are called that belong to the making of a tree. */
export const stagingName = ({ kind, name, digest }: TreeId): string => `${kind}-${name}-${shortDigest(digest)}`;

/** The folder in which a tree is made ready; nothing in it is ever used from there. */
export const stagingFolder = (tree: TreeId): NodePath => below(place.opt, `staging/${stagingName(tree)}`);

/** Holds the digest of a staged tree that a job has verified. */
export const verifiedMark = (tree: TreeId): NodePath => below(stagingFolder(tree), 'verified');

/** What a job has installed into a staged tree by itself, as lines for the seal. */
export const libraryList = (tree: TreeId): NodePath => below(stagingFolder(tree), 'libraries');

/** Inside of a staging folder: what will be published as it is. */
export const stagedTree = (tree: TreeId): NodePath => below(stagingFolder(tree), 'tree');

/** Where a file of a model is sent to; `path` as the model's list has it. */
export const stagedFile = (tree: TreeId, path: string): NodePath => below(stagedTree(tree), path);

/** Where the archive of a runtime is sent to. */
export const stagedArchive = (tree: TreeId, archive: JobArgs['unpack-runtime']['archive']): NodePath =>
  below(stagingFolder(tree), `archive.${archive}`);

/** Where a file is sent to that belongs to a runtime and is not its archive. */
export const stagedExtra = (tree: TreeId, name: string): NodePath => below(stagingFolder(tree), `extra/${name}`);

/**
 * The name of the seal inside of a published tree: `digest=`, `files=`, and what a job has installed by itself, written
 * after everything else in it.
 */
export const sealName = '.meshwright-seal';
