import type { ScriptArgs } from '../../../model/node-script.ts';
import { serviceFunctions } from '../../../node/launchd-service.ts';
import { pathWord, place, tool } from '../../../node/paths/node-paths.ts';
import { screenSharingLabel } from '../../../node/probes/node-settings.ts';

const launchctl = pathWord(tool.launchctl);

/** launchd may need a moment for what it has just let go of: exit 5. */
const load = `look || {
  n=0
  until o=$(${launchctl} bootstrap system ${pathWord(place.screenSharing)} 2>&1); do
    n=$((n + 1))
    [ "$n" -lt 4 ] || failed launchctl "$o"
    ${pathWord(tool.sleep)} 1
  done
  look || failed launchctl 'launchd does not show Screen Sharing'
  y=1
}`;

const unload = `! look || {
  bootout
  y=1
}`;

/**
 * Switches Screen Sharing on or off, now and for every later start.
 *
 * @see launchctl(1): enable, disable, bootstrap, bootout, print-disabled
 */
export function setScreenSharing({ on }: ScriptArgs['set-screen-sharing']): string {
  const [verb, other] = on ? ['enable', 'false'] : ['disable', 'true'];
  return `${serviceFunctions(screenSharingLabel)}
y=''
isset() {
  o=$(${launchctl} print-disabled system 2>&1) || failed launchctl "$o"
  case $o in (*'"${screenSharingLabel}" => ${verb}d'* | *'"${screenSharingLabel}" => ${other}'*) ;; (*) return 1 ;; esac
}
isset || {
  must launchctl ${launchctl} ${verb} "$L"
  isset || failed launchctl 'launchd does not show Screen Sharing as ${verb}d'
  y=1
}
${on ? load : unload}
[ -n "$y" ] || unchanged
changed`;
}
