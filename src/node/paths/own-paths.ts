import { type Digest, shortDigest } from '../../model/digest.ts';
import { rankLabelPrefix } from '../../model/facts/daemons.ts';
import type { JobArgs, TreeId } from '../../model/node-script.ts';
import type { NodePath } from '../../model/probe.ts';
import { below, place } from './node-paths.ts';

/**
 * Above so many bytes a log makes room for a new one, when its rank is made ready or in a round of the keeper: more than a hundred thousand lines,
 * of which nobody reads any but the last ones, and little enough that two of them for each placement fill no disk.
 */
export const mostLogBytes = 16 * 1_048_576;

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

/** Where everything of a job lies, by the key of what it makes. */
export const jobFolder = (key: Digest): NodePath => below(place.ours, `ops/${key}`);

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

/** The launchd label of the rank of a placement. */
export const rankServiceLabel = (placement: string): string => `${rankLabelPrefix}${placement}`;

/** The service file of a rank, as `put` writes it. */
export const serviceFile = (placement: string): NodePath =>
  below(place.launchDaemons, `${rankServiceLabel(placement)}.plist`);

/** Where launchd appends what a rank prints. */
export const rankLog = (placement: string): NodePath => below(place.log, `${placement}.log`);

/** What the log was until a start found it too long; the one before that is gone. */
export const olderRankLog = (placement: string): NodePath => below(place.log, `${placement}.log.1`);

/** The folder with the record of a member. */
export const placementFolder = (placement: string): NodePath => below(place.ours, `placements/${placement}`);

/** The mark of the last start of a member over RDMA. */
export const startFile = (placement: string): NodePath => below(placementFolder(placement), 'start');

/** How often ranks over RDMA were started on this node in one boot session, over all placements. */
export const rdmaStartsFile: NodePath = below(place.ours, 'rdma-starts');

/** The body of the request for one token. */
export const requestFile = (placement: string): NodePath => below(placementFolder(placement), 'request');

/** What its leader keeps of the golden answer. */
export const goldenFile = (placement: string): NodePath => below(placementFolder(placement), 'golden');

/** The folder of the files that a rank reads. */
export const rankFilesFolder = (placement: string): NodePath => below(placementFolder(placement), 'files');

/** One of these files. */
export const rankFile = (placement: string, name: string): NodePath => below(rankFilesFolder(placement), name);

/** What was wired before any rank ran in a boot session. */
export const wiredBaselineFile: NodePath = below(place.ours, 'wired-baseline');

/** Why only a restart of this Mac helps, and in which boot session that was found. */
export const rebootMarkFile: NodePath = below(place.ours, 'needs-reboot');

/** A doorman is known by its port: at one port of a node there is one. */
const labelStart = 'dev.meshwright.doorman.';

/** The launchd label of the doorman at a port. */
export const doormanLabel = (port: number | '*'): string => `${labelStart}${port}`;

/** Where a doorman tells its own node who is behind it. */
export const doormanStatusUrl = (port: number | '$q'): string => `http://127.0.0.1:${port}/doorman/status`;

/** How that answer begins; nobody else who may listen there begins so. */
export const doormanStatusStart = '{"formatVersion":1,"strangers":';

/** The port in the label of a doorman; undefined for any other label. */
export function doormanPort(label: string): number | undefined {
  const digits = label.startsWith(labelStart) ? label.slice(labelStart.length) : '';
  return /^\d{1,5}$/.test(digits) ? Number(digits) : undefined;
}

/** Its property list. */
export const doormanPlist = (port: number): NodePath => below(place.launchDaemons, `${doormanLabel(port)}.plist`);

/** Where all doormen of a node have their files. */
export const doormenFolder: NodePath = below(place.ours, 'doorman');

/** Everything else of it but its program and its log. */
export const doormanFolder = (port: number): NodePath => below(doormenFolder, String(port));

/** What it is told. */
export const doormanConfig = (port: number): NodePath => below(doormanFolder(port), 'config.json');

/** Holds a file for each placement with the hashes of its keys. */
export const keysFolder = (port: number): NodePath => below(doormanFolder(port), 'keys');

/** The hashes of the keys of a placement. */
export const doormanKeysFile = (port: number, placement: string): NodePath => below(keysFolder(port), placement);

/** Holds a file for each placement that is closed. */
export const closedFolder = (port: number): NodePath => below(doormanFolder(port), 'closed');

/** Keeps a placement closed as long as it lies there; its first line is the reason. */
export const closedFile = (port: number, placement: string): NodePath => below(closedFolder(port), placement);

/** The one folder in which the doorman itself writes. */
export const countsFolder = (port: number): NodePath => below(doormanFolder(port), 'counts');

/** What it has counted. */
export const countsFile = (port: number): NodePath => below(countsFolder(port), 'counts.json');

/** What it says about itself; nothing of any request. No name of a placement has a dot. */
export const doormanLog = (port: number): NodePath => below(place.log, `doorman.${port}.log`);

/** What was made for an account of ours, as `uid=450 id=…`; it is written when the account is whole. */
export const accountFile = (name: string): NodePath => below(place.accounts, name);

/** Root's own folder with those of an account: what it may write has no other parent. */
const accountFolder = (name: string): NodePath => below(place.accounts, `folders/${name}`);

/** The results of the tests of the account on the last build of macOS: one per line, below that build; a failed one begins with `!`. */
export const accountChecked = (name: string): NodePath => below(place.accounts, `${name}.checked`);

/** Root's own; exists only while the account is checked. */
export const accountCheckFolder = (name: string): NodePath => below(accountFolder(name), 'check');

/** Its home: that of its record cannot be written. */
export const accountHome = (name: string): NodePath => below(accountFolder(name), 'home');

/** What it has instead of /tmp, which others read. */
export const accountTemporary = (name: string): NodePath => below(accountFolder(name), 'tmp');

/** What a program that runs as an account of ours has to know: where it may write. */
export const accountEnvironment = (name: string): Readonly<Record<string, NodePath>> => ({
  HOME: accountHome(name),
  HF_HOME: below(accountHome(name), 'huggingface'),
  PYTHONPYCACHEPREFIX: below(accountHome(name), 'pycache'),
  TMPDIR: accountTemporary(name),
});
