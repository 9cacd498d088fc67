import { pathWord, place, tool } from '../paths/node-paths.ts';
import { probe } from './probe.ts';

export const screenSharingLabel = 'com.apple.screensharing';

const remoteLoginLabel = 'com.openssh.sshd';

/**
 * Prints each setting's tool output: a line `SETTING EXIT`, the tool's lines with a leading `|`, and a last line `end`.
 * Instead of the exit code, `unreadable` means that this user may not read a preference, and `absent` that its folder
 * does not exist. Runs in the observation's private folder and uses its `settings` file.
 *
 * `O` is the PATH with which the account's login shell started the observation, before it set its own.
 *
 * Files under macOS's privacy protection look readable until they are opened, and `defaults` reports their keys as not
 * set.
 *
 * @see defaults(1): cfprefsd's values take effect immediately, the file on disk follows
 * @see launchctl(1): print, print-disabled; users may read their own uid's domain
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

export const nodeSettings = probe('node-settings', [tool.sh, '-c', nodeSettingsScript], 10_000, 65_536);
