import { type Digest, shortDigest } from '../../model/digest.ts';
import { rankLabelPrefix } from '../../model/facts/daemons.ts';
import type { JobArgs, TreeId } from '../../model/node-script.ts';
import type { NodePath } from '../../model/probe.ts';
import { below, place } from './node-paths.ts';

/**
 * Size in bytes above which a log is rotated, when its rank is prepared or in a keeper round. Such a log has more than
 * 100,000 lines, and two logs per placement do not fill a disk.
 */
export const mostLogBytes = 16 * 1_048_576;

export const versionsFolder = ({ kind, name }: Pick<TreeId, 'kind' | 'name'>): NodePath =>
  below(place.opt, `${kind}s/${name}`);

/** The published tree: `/opt/meshwright/<kind>s/<name>/<first 16 digits>`. */
export const treeFolder = (tree: TreeId): NodePath => below(versionsFolder(tree), shortDigest(tree.digest));

/** The link to the runtime version in use. */
export const currentLink = (name: string): NodePath => below(versionsFolder({ kind: 'runtime', name }), 'current');

/** The name of the folders where a tree is prepared. */
export const stagingName = ({ kind, name, digest }: TreeId): string => `${kind}-${name}-${shortDigest(digest)}`;

/** The folder where a tree is prepared. Nothing is used from this folder. */
export const stagingFolder = (tree: TreeId): NodePath => below(place.opt, `staging/${stagingName(tree)}`);

/** The folder with a tree's key and plan for the exchange with other Macs, and with what was received. */
export const peersFolder = (tree: TreeId): NodePath => below(place.opt, `peers/${stagingName(tree)}`);

/** A job's folder, by the key of its result. */
export const jobFolder = (key: Digest): NodePath => below(place.ours, `ops/${key}`);

/** File with the digest of a staged tree that a job has verified. */
export const verifiedMark = (tree: TreeId): NodePath => below(stagingFolder(tree), 'verified');

/** File with the packages that a job installed into a staged tree, as lines for the seal. */
export const libraryList = (tree: TreeId): NodePath => below(stagingFolder(tree), 'libraries');

/** The part of a staging folder that is published unchanged. */
export const stagedTree = (tree: TreeId): NodePath => below(stagingFolder(tree), 'tree');

export const stagedFile = (tree: TreeId, path: string): NodePath => below(stagedTree(tree), path);

export const stagedArchive = (tree: TreeId, archive: JobArgs['unpack-runtime']['archive']): NodePath =>
  below(stagingFolder(tree), `archive.${archive}`);

export const stagedSource = (tree: TreeId): NodePath => below(stagingFolder(tree), 'source.tar.gz');

export const stagedWheel = (tree: TreeId): NodePath => below(stagingFolder(tree), 'wheel');

export const stagedBuild = (tree: TreeId): NodePath => below(stagingFolder(tree), 'built.tar.gz');

/** The list of packages that a job made, or the sha256 of the archive that it built. */
export const stagedList = (tree: TreeId): NodePath => below(stagingFolder(tree), 'list');

export const stagedExtra = (tree: TreeId, name: string): NodePath => below(stagingFolder(tree), `extra/${name}`);

/**
 * The name of the seal in a published tree. The seal contains `digest=`, `files=` and the packages that a job
 * installed, and is written last.
 */
export const sealName = '.meshwright-seal';

/**
 * The list of a published model's files, for the keeper: `SHA256 SIZE PATH`. It is part of the sealed tree. Models that
 * older versions published have none.
 */
export const listName = '.meshwright-files';

export const rankServiceLabel = (placement: string): string => `${rankLabelPrefix}${placement}`;

export const serviceFile = (placement: string): NodePath =>
  below(place.launchDaemons, `${rankServiceLabel(placement)}.plist`);

export const rankLog = (placement: string): NodePath => below(place.log, `${placement}.log`);

/** The previous log, rotated when a start found it too long. Older ones are deleted. */
export const olderRankLog = (placement: string): NodePath => below(place.log, `${placement}.log.1`);

export const placementFolder = (placement: string): NodePath => below(place.ours, `placements/${placement}`);

/** The mark of a rank's last start over RDMA. */
export const startFile = (placement: string): NodePath => below(placementFolder(placement), 'start');

/** Number of RDMA starts on this node in one boot session, over all placements. */
export const rdmaStartsFile: NodePath = below(place.ours, 'rdma-starts');

/** Body of the request for one token. */
export const requestFile = (placement: string): NodePath => below(placementFolder(placement), 'request');

export const goldenFile = (placement: string): NodePath => below(placementFolder(placement), 'golden');

export const rankFilesFolder = (placement: string): NodePath => below(placementFolder(placement), 'files');

export const rankFile = (placement: string, name: string): NodePath => below(rankFilesFolder(placement), name);

export const preparedMark = (placement: string, name: string): NodePath =>
  below(placementFolder(placement), `prepared.${name}`);

/** Wired memory before any rank ran in a boot session. */
export const wiredBaselineFile: NodePath = below(place.ours, 'wired-baseline');

/** File with the reason why only a restart of this Mac helps, and the boot session of that finding. */
export const rebootMarkFile: NodePath = below(place.ours, 'reboot-mark');

/** A gateway is identified by its port: a node has one gateway per port. */
const labelStart = 'dev.meshwright.gateway.';

export const gatewayLabel = (port: number | '*'): string => `${labelStart}${port}`;

/** The URL where a gateway reports its placements on its own node. */
export const gatewayStatusUrl = (port: number | '$q'): string => `http://127.0.0.1:${port}/gateway/status`;

/** The start of that report, by which it is recognized. */
export const gatewayStatusStart = '{"formatVersion":1,"strangers":';

/** The port in a gateway's label; undefined for other labels. */
export function gatewayPort(label: string): number | undefined {
  const digits = label.startsWith(labelStart) ? label.slice(labelStart.length) : '';
  return /^\d{1,5}$/.test(digits) ? Number(digits) : undefined;
}

export const gatewayPlist = (port: number): NodePath => below(place.launchDaemons, `${gatewayLabel(port)}.plist`);

export const gatewaysFolder: NodePath = below(place.ours, 'gateway');

/** The gateway's files except its program and its log. */
export const gatewayFolder = (port: number): NodePath => below(gatewaysFolder, String(port));

export const gatewayConfig = (port: number): NodePath => below(gatewayFolder(port), 'config.json');

/** The secret of the node for a gateway, as a header for curl's `-H @FILE`, which keeps it out of the process list. */
export const gatewaySecret = (port: number): NodePath => below(gatewayFolder(port), 'own');

/** Contains one file per placement with the hashes of its keys. */
export const keysFolder = (port: number): NodePath => below(gatewayFolder(port), 'keys');

export const gatewayKeysFile = (port: number, placement: string): NodePath => below(keysFolder(port), placement);

/** Contains one file per replica, with the addresses of the other replicas. */
export const replicasFolder = (port: number): NodePath => below(gatewayFolder(port), 'replicas');

export const replicasFile = (port: number, placement: string): NodePath => below(replicasFolder(port), placement);

export const closedFolder = (port: number): NodePath => below(gatewayFolder(port), 'closed');

/** A placement is closed while this file exists; its first line is the reason. */
export const closedFile = (port: number, placement: string): NodePath => below(closedFolder(port), placement);

/** The only folder that the gateway itself writes to. */
export const countsFolder = (port: number): NodePath => below(gatewayFolder(port), 'counts');

export const countsFile = (port: number): NodePath => below(countsFolder(port), 'counts.json');

/** The gateway's own log, without any request. No placement name contains a dot. */
export const gatewayLog = (port: number): NodePath => below(place.log, `gateway.${port}.log`);

/** The record of a service account, as `uid=450 id=…`, written when the account is complete. */
export const accountFile = (name: string): NodePath => below(place.accounts, name);

/** Folder with the account's folders. It belongs to root, so that everything writable is below a folder of root. */
const accountFolder = (name: string): NodePath => below(place.accounts, `folders/${name}`);

/** Results of the account's tests on the last macOS build: the build, then one per line; failures have a `!`. */
export const accountChecked = (name: string): NodePath => below(place.accounts, `${name}.checked`);

/** Folder that belongs to root and exists only while the account is tested. */
export const accountCheckFolder = (name: string): NodePath => below(accountFolder(name), 'check');

/** The account's home. The home in the account's directory record is not writable. */
export const accountHome = (name: string): NodePath => below(accountFolder(name), 'home');

/** The account's replacement for /tmp, which others can read. */
export const accountTemporary = (name: string): NodePath => below(accountFolder(name), 'tmp');

/** Environment of programs that run as a service account, with the folders that they may write to. */
export const accountEnvironment = (name: string): Readonly<Record<string, NodePath>> => ({
  HOME: accountHome(name),
  HF_HOME: below(accountHome(name), 'huggingface'),
  PYTHONPYCACHEPREFIX: below(accountHome(name), 'pycache'),
  TMPDIR: accountTemporary(name),
});
