import type { NodePath } from '../../model/probe.ts';
import { forgotten, serviceFunctions } from '../../node/launchd-service.ts';
import { keeperData, keeperLabel, keeperPlist, keeperProgram, refusedMark } from '../../node/paths/keeper-files.ts';
import { place } from '../../node/paths/node-paths.ts';
import { fileSeal } from '../../node/put-file.ts';

const files: readonly NodePath[] = [keeperPlist, keeperProgram, keeperData];

/** Everything of the keeper but its log, with the mark of a node that left something to it. */
const traces = [...files, ...files.map(fileSeal), refusedMark, place.keeper];

/** Makes launchd forget the keeper, and takes its files away. What it has put back stays as it is. */
export const removeKeeper = (): string => `${serviceFunctions(keeperLabel)}
${forgotten(traces)}
[ -n "$y" ] || unchanged
changed`;
