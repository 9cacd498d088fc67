/** Settings of macOS in the baseline: how each is read, in a short text of our own, and set back. */
import type { BaselineKey } from '../../model/facts/node-records.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { screenSharingLabel } from '../../node/probes/node-settings.ts';

const launchctl = pathWord(tool.launchctl);
const scutil = pathWord(tool.scutil);
const firewall = pathWord(tool.socketfilterfw);
const updatesKey = `${pathWord(place.softwareUpdate)} AutomaticallyInstallMacOSUpdates`;
const nameKeys = 'ComputerName LocalHostName HostName';

/** `on` or `off`, followed by ` until the next start` where that changes it, as `screenSharingWords` has it. */
const readScreenSharing = `o=$(${launchctl} print system/${screenSharingLabel} 2>&1)
case $? in (0) w=on ;; (113) w=off ;; (*) exit 1 ;; esac
o=$(${launchctl} print-disabled system) || exit
case $o in (*'"${screenSharingLabel}" => enabled'* | *'"${screenSharingLabel}" => false'*) a=on ;; (*) a=off ;; esac
[ "$w" = "$a" ] || w="$w until the next start"
printf '%s\\n' "$w"`;

/** What must be loaded has to be enabled first. */
const restoreScreenSharing = `L=system/${screenSharingLabel}
case $v in (on* | off\\ *) ${launchctl} enable "$L" || return ;; esac
case $v in
(on*) ${launchctl} print "$L" >/dev/null 2>&1 || ${launchctl} bootstrap system ${pathWord(place.screenSharing)} || return ;;
(*) ! ${launchctl} print "$L" >/dev/null 2>&1 || ${launchctl} bootout "$L" || return ;;
esac
case $v in (on\\ * | off) ${launchctl} disable "$L" ;; esac`;

/** Each name that is set behind its key. */
const readNames = `for n in ${nameKeys}; do
  if o=$(${scutil} --get "$n" 2>&1); then
    printf '%s %s\\n' "$n" "$o"
  else
    case $o in (*'not set'*) ;; (*) exit 1 ;; esac
  fi
done`;

/** A name that was not set is set to nothing, which takes it away. */
const restoreNames = `for n in ${nameKeys}; do
  case $N$v$N in
  (*"$N$n "*)
    w=$N$v$N
    w=\${w#*"$N$n "}
    w=\${w%%"$N"*} ;;
  (*) w='' ;;
  esac
  [ "$(${scutil} --get "$n" 2>/dev/null)" = "$w" ] || ${scutil} --set "$n" "$w" || return
done`;

/** The settings, in the order of their keys. */
export const settingValues = [
  {
    key: 'updates',
    read: `case $(${pathWord(tool.defaults)} read ${updatesKey} 2>&1) in
(0) printf 'off\\n' ;;
(1 | *') does not exist') printf 'on\\n' ;;
(*) exit 1 ;;
esac`,
    // Without the key macOS does what it does on a new Mac: it installs its updates.
    restore: `case $v in
(on) ${pathWord(tool.defaults)} delete ${updatesKey} ;;
(*) ${pathWord(tool.defaults)} write ${updatesKey} -bool false ;;
esac`,
  },
  { key: 'names', read: readNames, restore: restoreNames },
  { key: 'screen-sharing', read: readScreenSharing, restore: restoreScreenSharing },
  {
    key: 'firewall',
    read: `case $(${firewall} --getglobalstate 2>&1) in
(*'(State = 0)') printf 'off\\n' ;;
(*'(State = 1)') case $(${firewall} --getblockall 2>&1) in
  (*' disabled.') printf 'on\\n' ;;
  (*' enabled.') printf 'blocks-all\\n' ;;
  (*) exit 1 ;;
esac ;;
(*'(State = 2)') printf 'blocks-all\\n' ;;
(*) exit 1 ;;
esac`,
    restore: `case $v in
(off) ${firewall} --setglobalstate off ;;
(on) ${firewall} --setglobalstate on && ${firewall} --setblockall off ;;
(*) ${firewall} --setglobalstate on && ${firewall} --setblockall on ;;
esac`,
  },
] as const satisfies readonly { readonly key: BaselineKey; readonly read: string; readonly restore: string }[];
