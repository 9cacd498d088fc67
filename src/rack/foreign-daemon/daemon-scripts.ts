import type { ScriptArgs } from '../../model/node-script.ts';
import { serviceFunctions } from '../../node/launchd-service.ts';
import { nodePath, pathWord, place, tool } from '../../node/paths/node-paths.ts';

/**
 * Gives a network daemon of somebody else back: its plist to where it lay, unless there is one by now. It stays disabled,
 * unless it is to be loaded as it was before.
 *
 * @see launchctl(1): enable, bootstrap
 */
export function returnDaemon({ label, load }: ScriptArgs['return-daemon']): string {
  const plist = pathWord(nodePath(`${place.launchDaemons.path as `/${string}`}/${label}.plist`));
  const launchctl = pathWord(tool.launchctl);
  return `${serviceFunctions(label)}
p=${plist} k="$b/foreign/${label}.plist" y=''
if [ -e "$k" ] && [ ! -e "$p" ]; then
  must mv ${pathWord(tool.mv)} -f "$k" "$p"
  y=1
fi
${
  load
    ? `if [ -e "$p" ] && ! look; then
  must launchctl ${launchctl} enable "$L"
  n=0
  until e=$(${launchctl} bootstrap system "$p" 2>&1) || look; do
    n=$((n + 1))
    [ "$n" -lt 3 ] || failed launchctl "$e"
    ${pathWord(tool.sleep)} 2
  done
  look || failed launchctl 'launchd does not know the daemon'
  y=1
fi
`
    : ''
}[ -n "$y" ] || unchanged
changed`;
}

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
