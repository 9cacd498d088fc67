import type { ScriptArgs } from '../../model/node-script.ts';
import { serviceFunctions } from '../../node/launchd-service.ts';
import { nodePath, pathWord, place, tool } from '../../node/paths/node-paths.ts';

/**
 * Unloads a network daemon of somebody else and disables it, so that no start brings it back. With `remove` its plist
 * is moved to our folder, from which it can be put back. What was done is written beside it: `was=loaded`, or nothing
 * where it was disabled already.
 *
 * @see launchctl(1): bootout, disable, print-disabled
 */
export function stopDaemon({ label, remove }: ScriptArgs['stop-daemon']): string {
  const launchctl = pathWord(tool.launchctl);
  const plist = pathWord(nodePath(`${place.launchDaemons.path as `/${string}`}/${label}.plist`));
  return `${serviceFunctions(label)}
isdisabled() {
  o=$(${launchctl} print-disabled system 2>&1) || failed launchctl "$o"
  case $o in (*'"${label}" => disabled'* | *'"${label}" => true'*) ;; (*) return 1 ;; esac
}
p=${plist} k="$b/foreign" y='' w=''
if look; then
  w=loaded
  bootout
  y=1
fi
isdisabled || {
  must launchctl ${launchctl} disable "$L"
  isdisabled || failed launchctl 'launchd does not show the daemon as disabled'
  y=1
}
[ -e "$k/${label}" ] || {
  must mkdir ${pathWord(tool.mkdir)} -p "$k"
  printf 'was=%s\\n' "$w" >"$k/${label}" || failed write 'what the daemon was cannot be kept'
}
${
  remove
    ? `if [ -e "$p" ]; then
  must mv ${pathWord(tool.mv)} -f "$p" "$k/${label}.plist"
  y=1
fi
`
    : ''
}[ -n "$y" ] || unchanged
changed`;
}
