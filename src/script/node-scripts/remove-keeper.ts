import type { NodePath } from '../../model/node-path.ts';
import { keeperData, keeperLabel, keeperPlist, keeperProgram, refusedMark } from '../keeper-files.ts';
import { pathWord, place, tool } from '../node-paths.ts';
import { fileSeal } from '../put-file.ts';
import { serviceFunctions } from './launchd-service.ts';

const files: readonly NodePath[] = [keeperPlist, keeperProgram, keeperData];

/** Everything of the keeper but its log, with the mark of a node that left something to it. */
const traces = [...files, ...files.map(fileSeal), refusedMark, place.keeper];

/** Makes launchd forget the keeper, and takes its files away. What it has put back stays as it is. */
export const removeKeeper = (): string => `${serviceFunctions(keeperLabel)}
y=
if look; then
  bootout
  y=1
fi
for f in ${traces.map(pathWord).join(' ')}; do
  [ -e "$f" ] || continue
  must rm ${pathWord(tool.rm)} -rf "$f"
  y=1
done
[ -n "$y" ] || unchanged
changed`;
