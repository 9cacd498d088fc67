import { pathWord, place, tool } from '../paths/node-paths.ts';
import { probe } from './probe.ts';

/** The label of Screen Sharing in launchd. */
export const screenSharingLabel = 'com.apple.screensharing';

/** The label of Remote Login in launchd, which starts one sshd for each connection. */
const remoteLoginLabel = 'com.openssh.sshd';

/**
 * Prints what a tool says of each setting: a line `SETTING EXIT` and the tool's lines each behind `|`, and `end` at the
 * end. A preference that this user may not read has `unreadable` in place of an exit, one whose folder does
 * not exist `absent`. Runs in the private folder of
 * the observation, in which the file `settings` is its own.
 *
 * `O` is the PATH with which the login shell of the account has started the observation, before it set its own.
 *
 * What macOS guards by privacy looks readable until it is opened, and `defaults` then calls its keys unset.
 *
 * @see defaults(1): what cfprefsd holds counts at once, the file on the disk follows
 * @see launchctl(1): print, print-disabled; the user may ask for the domain of his own uid
 */
export const nodeSettingsScript = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
said() {
  wait "$!"
  printf "%s %s\\n" "$1" "$?"
  while IFS= read -r x || [ -n "$x" ]; do
    case $x in (*"$2"*) printf "|%s\\n" "$x" ;; esac
  done <settings
}
preference() {
  if [ ! -d "\${2%/*}" ]; then
    printf "%s absent\\n" "$1"
    return
  fi
  if [ ! -x "\${2%/*}" ] || { [ -e "$2.plist" ] && ! { true <"$2.plist"; } 2>/dev/null; }; then
    printf "%s unreadable\\n" "$1"
    return
  fi
  ${pathWord(tool.defaults)} read "$2" "$3" >settings 2>&1 &
  said "$1" ""
}
preference updates ${pathWord(place.softwareUpdate)} AutomaticallyInstallMacOSUpdates
preference login ${pathWord(place.loginWindow)} autoLoginUser
${pathWord(tool.plutil)} -extract System json -o - ${pathWord(place.networkPreferences)} >settings 2>&1 &
said names ""
${pathWord(tool.launchctl)} print system/${screenSharingLabel} >settings 2>&1 &
said screen-sharing ""
${pathWord(tool.launchctl)} print system/${remoteLoginLabel} >settings 2>&1 &
said remote-login ""
${pathWord(tool.launchctl)} print-disabled system >settings 2>&1 &
said override "\\"${screenSharingLabel}\\""
f=${pathWord(tool.socketfilterfw)}
"$f" --getglobalstate >settings 2>&1 &
said firewall ""
"$f" --getblockall >settings 2>&1 &
said block-all ""
${pathWord(tool.id)} -u >settings 2>&1 &
if wait "$!" && read -r u <settings; then
  ${pathWord(tool.launchctl)} print-disabled "user/$u" >settings 2>&1 &
  said photos "analysisd\\""
else
  printf "photos 1\\n"
fi
preference backups ${pathWord(place.timeMachine)} AutoBackup
printf "search-path 0\\n"
IFS=:
set -f
for x in $O""; do printf "|%s\\n" "\${x#"$R"}"; done
printf "end\\n"`;

/** Updates, automatic login, names, Screen Sharing, firewall, photos and backups: one record each. */
export const nodeSettings = probe('node-settings', [tool.sh, '-c', nodeSettingsScript], 10_000, 65_536);
