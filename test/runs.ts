import { isThorough } from './sample.ts';

/** How many cases a property is tried with: a quarter of them in `npm test`. */
export const runs = (whole: number): number => (isThorough ? whole : Math.ceil(whole / 4));
