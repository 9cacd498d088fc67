import { isThorough } from './sample.ts';

/** The number of cases for a property test: in `npm test`, a quarter of the usual number. */
export const runs = (whole: number): number => (isThorough ? whole : Math.ceil(whole / 4));
