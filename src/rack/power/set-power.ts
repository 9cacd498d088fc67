import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';

/** Every setting on mains as `KEY VALUE`, from the section `AC Power:` of `pmset -g custom`. */
const onMains = `/^[A-Z].* Power:$/ { a = $0 == "AC Power:"; next } a { print $1 " " $2 }`;

/**
 * Sets how the Mac sleeps and whether it starts by itself when power returns. pmset says nothing of use, so the
 * settings are read back; powerd may need a moment.
 *
 * @see pmset(1): `-c` for mains, as all but laptops always have it, `autorestart` after a loss of power
 */
export function setPower({ sleepMinutes, restartAfterPowerLoss }: ScriptArgs['set-power']): string {
  const wanted = [
    ...(sleepMinutes === undefined ? [] : [`sleep ${sleepMinutes}`]),
    ...(restartAfterPowerLoss === undefined ? [] : [`autorestart ${Number(restartAfterPowerLoss)}`]),
  ];
  const tests = wanted.map((one) => `  case $o in (*"\${N}${one}$N"*) ;; (*) return 1 ;; esac`);
  return `isset() {
  o=$N$(${pathWord(tool.pmset)} -g custom | ${pathWord(tool.awk)} '${onMains}')$N
${tests.join('\n')}
}
isset && unchanged
must pmset ${pathWord(tool.pmset)} -c ${wanted.join(' ')}
n=0
until isset; do
  n=$((n + 1))
  [ "$n" -lt 20 ] || failed pmset 'pmset took the settings and does not show them'
  ${pathWord(tool.sleep)} 0.25
done
changed`;
}
