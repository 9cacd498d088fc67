import { isThorough, isWhole } from './sample.ts';

const part = isWhole ? 1 : isThorough ? 4 : 10;

/** The number of cases for a property test: a tenth in `npm test`, a quarter in `.ci/run`, all in `npm run nightly`. */
export const runs = (whole: number): number => Math.ceil(whole / part);
