/**
 * What apply changes of a Mac, as it was before: the one list of values that are written down when a run takes the
 * lease for the first time, and how those that one tool sets are set back. How each compares with what is there now is
 * said by `src/rack/uninstall/baseline-now.ts`.
 */
import type { BaselineKey } from '../../model/facts/node-records.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { readPhotosAgents, restorePhotosAgents } from '../settings/background/photos-agents.ts';
import { settingValues } from './baseline-settings.ts';

/** One value of a Mac that apply changes. */
export interface BaselineValue {
  /** Its file in the folder of the baseline. */
  readonly key: BaselineKey;
  /** Commands of sh, as root, that print the value; when one fails or nothing is printed, it could not be read. */
  readonly read: string;
  /**
   * Commands of sh that fail when `$o`, which is there now, is not `$v` in what counts; without them the two are equal
   * texts.
   */
  readonly isBack?: string;
  /**
   * Commands of sh that set it back from `$v`, knowing `$o`, where nothing else does; a last one that fails has failed.
   * What is no setting of one tool (the network, daemons) is put back by steps of its own.
   */
  readonly restore?: string;
}

/** `KEY VALUE` of what `set-power` can change, in this order, from the section of mains. @see pmset(1): -g custom */
const onMains = `/^[A-Z].* Power:$/ { a = $0 == "AC Power:"; next } a { v[$1] = $2 }
END {
  if (!("sleep" in v)) exit 1
  n = split("sleep autorestart", k, " ")
  for (i = 1; i <= n; i++) if (k[i] in v) print k[i], v[k[i]]
}`;

/** `VOLUME on` or `VOLUME off` of each volume that mdutil knows the state of. @see mdutil(1): -a -s */
const perVolume = `/^\\/.*:$/ { p = substr($0, 1, length($0) - 1) }
/^[ \\t]*Indexing enabled/ { print p " on"; n++ }
/^[ \\t]*Indexing .*disabled\\./ { print p " off"; n++ }
END { exit !n }`;

const extract = (keyPath: string, form = 'json'): string =>
  `${pathWord(tool.plutil)} -extract ${keyPath} ${form} -o - ${pathWord(place.networkPreferences)} 2>&1 || :`;

/** Does this for each line `l` of a volume that is in another state now. One that is not there any more is nobody's. */
const everyVolume = (work: string): string => `printf '%s\\n' "$v" | while IFS= read -r l; do
  case $l in (*' on' | *' off') ;; (*) exit 1 ;; esac
  case $N$o$N in (*"$N$l$N"*) continue ;; (*"$N\${l% *} on$N"* | *"$N\${l% *} off$N"*) ;; (*) continue ;; esac
  ${work}
done`;

/** Every value, in the order in which they are read and set back. */
export const baselineValues: readonly BaselineValue[] = [
  {
    key: 'power',
    read: `${pathWord(tool.pmset)} -g custom | ${pathWord(tool.awk)} '${onMains}'`,
    // Words of the list are never quoted: they are words of pmset and numbers.
    restore: `set -f
case $v in (*[!a-z0-9"$N "]*) return 1 ;; esac
set -- $(printf '%s\\n' "$v")
${pathWord(tool.pmset)} -c "$@"`,
  },
  {
    key: 'wired-limit',
    read: `${pathWord(tool.sysctl)} -n iogpu.wired_limit_mb`,
    restore: `${pathWord(tool.sysctl)} iogpu.wired_limit_mb="$v"`,
  },
  { key: 'network-preferences', read: `${pathWord(tool.cat)} ${pathWord(place.networkPreferences)}` },
  { key: 'service-order', read: `${pathWord(tool.networksetup)} -listnetworkserviceorder` },
  { key: 'service-addresses', read: extract('NetworkServices', 'xml1') },
  { key: 'bridge', read: extract('VirtualNetworkInterfaces.Bridge') },
  { key: 'disabled-services', read: `${pathWord(tool.launchctl)} print-disabled system` },
  {
    key: 'spotlight',
    read: `${pathWord(tool.mdutil)} -a -s 2>/dev/null | ${pathWord(tool.awk)} '${perVolume}'`,
    isBack: everyVolume('exit 1'),
    restore: everyVolume(`${pathWord(tool.mdutil)} -i "\${l##* }" "\${l% *}" </dev/null || exit 1`),
  },
  {
    key: 'time-machine',
    read: `[ ! -e ${pathWord(place.timeMachine)}.plist ] || true <${pathWord(place.timeMachine)}.plist || exit 1
case $(${pathWord(tool.defaults)} read ${pathWord(place.timeMachine)} AutoBackup 2>/dev/null) in
(1) printf 'on\\n' ;; (0 | '') printf 'off\\n' ;; (*) exit 1 ;; esac`,
    restore: `case $v in (on) ${pathWord(tool.tmutil)} enable ;; (off) ${pathWord(tool.tmutil)} disable ;; (*) return 1 ;; esac`,
  },
  { key: 'photos-analysis', read: readPhotosAgents, restore: restorePhotosAgents },
  {
    key: 'opt-folder',
    read: `if [ -e ${pathWord(place.optParent)} ]; then printf 'there\\n'; else printf 'missing\\n'; fi`,
  },
  ...settingValues,
];
