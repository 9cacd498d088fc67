import { rankLabelPrefix } from '../../model/facts/launchd-service.ts';
import type { NodePath } from '../../model/node-path.ts';
import { below, place } from './node-paths.ts';

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
