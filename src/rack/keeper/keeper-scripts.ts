import type { ScriptArgs } from '../../model/node-script.ts';
import type { NodePath } from '../../model/probe.ts';
import { bootstrapped, forgotten, serviceFunctions } from '../../node/launchd-service.ts';
import { keeperData, keeperLabel, keeperPlist, keeperProgram, refusedMark } from '../../node/paths/keeper-files.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { fileSeal } from '../../node/put-file.ts';

const files: readonly NodePath[] = [keeperPlist, keeperProgram, keeperData];

/** Everything of the keeper but its log, with the mark of a node that left something to it. */
const traces = [...files, ...files.map(fileSeal), refusedMark, place.keeper];

/** Makes launchd forget the keeper, and takes its files away. What it has put back stays as it is. */
export const removeKeeper = (): string => `${serviceFunctions(keeperLabel)}
${forgotten(traces)}
[ -n "$y" ] || unchanged
changed`;

/** Looks for the end of the first round, ten in a second. */
const looks = 200;

/**
 * Makes launchd load the keeper, whose files were put before, and waits until its first round has ended well. With
 * `reload` what launchd knows of it is forgotten first: it keeps a property list as it was when it was loaded.
 *
 * @see launchctl(1): `enable` undoes a `disable` that outlives bootstraps; bootstrap ends with 5 where it is loaded
 */
export const loadKeeper = ({ reload }: ScriptArgs['load-keeper']): string => `${serviceFunctions(keeperLabel)}
p=${pathWord(keeperPlist)}
[ -e "$p" ] || failed no-keeper "there is no $p"
if look; then
  ${reload ? 'bootout' : 'unchanged'}
fi
must launchctl ${pathWord(tool.launchctl)} enable "$L"
${bootstrapped}
hasrun() {
  look || failed launchctl 'launchctl took the keeper and does not show it'
  [ -z "$pid" ] || return 1
  case $o in (*'runs = 0'*) return 1 ;; (*'last exit code = 0'*) ;; (*) return 1 ;; esac
}
n=0
until hasrun; do
  n=$((n + 1))
  [ "$n" -lt ${looks} ] || failed keeper 'the first round of the keeper did not end well'
  ${pathWord(tool.sleep)} 0.1
done
changed`;
