import type { NodePath } from '../model/node-path.ts';
import { below, place } from './node-paths.ts';

/** The launchd label of the rank of a placement. */
export const rankServiceLabel = (placement: string): string => `dev.meshwright.rank.${placement}`;

/** The service file of a rank, as `put` writes it. */
export const serviceFile = (placement: string): NodePath =>
  below(place.launchDaemons, `${rankServiceLabel(placement)}.plist`);

/** Where launchd appends what a rank prints. */
export const rankLog = (placement: string): NodePath => below(place.log, `${placement}.log`);

/** The folder with the record of a member. */
export const placementFolder = (placement: string): NodePath => below(place.ours, `placements/${placement}`);

/** The body of the request for one token. */
export const requestFile = (placement: string): NodePath => below(placementFolder(placement), 'request');
