/**
 * What apply changes of a Mac, as it was before: the one list of values that are written down when a run takes the
 * lease for the first time, and how those that one tool sets are set back. How each compares with what is there now is
 * said by `src/resources/baseline-now.ts`.
 */
import type { BaselineKey } from '../model/node-records.ts';
import { settingValues } from './baseline-settings.ts';
import { pathWord, place, tool } from './node-paths.ts';

/** One value of a Mac that apply changes. */
export interface BaselineValue {
  /** Its file in the folder of the baseline. */
  readonly key: BaselineKey;
  /** Commands of sh, as root, that print the value; when one fails or nothing is printed, it could not be read. */
  readonly read: string;
  /**
   * Commands of sh that set it back from `$v`, where nothing else does; a last one that fails has failed. What is no
   * setting of one tool (the network, daemons) is put back by steps of its own.
   */
  readonly restore?: string;
}

/** `KEY VALUE` of what `set-power` can change, in this order, from the section of mains. @see pmset(1): -g custom */
const onMains = `/^[A-Z].* Power:$/ { a = $0 == "AC Power:"; next } a { v[$1] = $2 }
END {
  if (!("sleep" in v)) exit 1
  n = split("sleep disksleep autorestart", k, " ")
  for (i = 1; i <= n; i++) if (k[i] in v) print k[i], v[k[i]]
}`;

const extract = (keyPath: string): string =>
  `${pathWord(tool.plutil)} -extract ${keyPath} json -o - ${pathWord(place.networkPreferences)} 2>&1 || :`;

/** Every value, in the order in which they are read and set back. */
export const baselineValues: readonly BaselineValue[] = [
  {
    key: 'power',
    read: `${pathWord(tool.pmset)} -g custom | ${pathWord(tool.awk)} '${onMains}'`,
    // Words of the list are never quoted: they are words of pmset and numbers.
    restore: `set -f
case $v in (*[!a-z0-9"$N "]*) return 1 ;; esac
set -- $(printf '%s\\n' "$v")
${pathWord(tool.pmset)} -a "$@"`,
  },
  {
    key: 'wired-limit',
    read: `${pathWord(tool.sysctl)} -n iogpu.wired_limit_mb`,
    restore: `${pathWord(tool.sysctl)} iogpu.wired_limit_mb="$v"`,
  },
  { key: 'network-preferences', read: `${pathWord(tool.cat)} ${pathWord(place.networkPreferences)}` },
  { key: 'service-order', read: `${pathWord(tool.networksetup)} -listnetworkserviceorder` },
  { key: 'service-addresses', read: extract('NetworkServices') },
  { key: 'bridge', read: extract('VirtualNetworkInterfaces.Bridge') },
  { key: 'disabled-services', read: `${pathWord(tool.launchctl)} print-disabled system` },
  {
    key: 'spotlight',
    read: `o=$(${pathWord(tool.mdutil)} -a -s 2>&1) || exit 1
case $o in (*'Indexing enabled'*) printf 'on\\n' ;; (*'disabled.'*) printf 'off\\n' ;; (*) exit 1 ;; esac`,
    restore: `case $v in (on | off) ${pathWord(tool.mdutil)} -a -i "$v" ;; (*) return 1 ;; esac`,
  },
  {
    key: 'time-machine',
    read: `[ ! -e ${pathWord(place.timeMachine)}.plist ] || true <${pathWord(place.timeMachine)}.plist || exit 1
case $(${pathWord(tool.defaults)} read ${pathWord(place.timeMachine)} AutoBackup 2>/dev/null) in
(1) printf 'on\\n' ;; (0 | '') printf 'off\\n' ;; (*) exit 1 ;; esac`,
    restore: `case $v in (on) ${pathWord(tool.tmutil)} enable ;; (off) ${pathWord(tool.tmutil)} disable ;; (*) return 1 ;; esac`,
  },
  {
    key: 'opt-folder',
    read: `if [ -e ${pathWord(place.optParent)} ]; then printf 'there\\n'; else printf 'missing\\n'; fi`,
  },
  ...settingValues,
];
