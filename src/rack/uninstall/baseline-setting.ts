/**
 * The baseline of a Mac: the values that apply changes, recorded when a run gets the lease for the first time. This
 * file has the only list of these values, how they are recorded, and how values that a single tool sets are restored.
 */
import type { Baseline } from '../../model/facts/node-records.ts';
import { andThen, type Known, known, mapKnown } from '../../model/known.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { readStoredRecords } from '../../node/probes/stored-records.ts';
import { storedRecords } from '../../node/probes/stored-records-scripts.ts';
import { posixCksum } from '../../node/put-file.ts';
import { defineFact, read } from '../fact.ts';
import { wiredLimitFact } from '../memory/fact.ts';
import { photosAnalysis, spotlight, timeMachine } from '../settings/background-services.ts';
import type { Before } from '../settings/define-setting.ts';
import { power } from '../settings/power.ts';
import { settings } from '../settings/settings.ts';

/** One value of a Mac that apply changes. Network and daemons need several tools, so they have separate steps. */
export interface BaselineValue extends Pick<Before, 'read'>, Partial<Omit<Before, 'read'>> {
  /** Its file in the baseline's folder. */
  readonly key: string;
}

const extract = (keyPath: string, form = 'json'): string =>
  `${pathWord(tool.plutil)} -extract ${keyPath} ${form} -o - ${pathWord(place.networkPreferences)} 2>&1 || :`;

const listed: readonly BaselineValue[] = [
  power.before,
  {
    key: 'wired-limit',
    read: `${pathWord(tool.sysctl)} -n iogpu.wired_limit_mb`,
    restore: `${pathWord(tool.sysctl)} iogpu.wired_limit_mb="$v"`,
    now: (facts) => mapKnown(read(facts, wiredLimitFact), ({ megabytes }) => String(megabytes)),
  },
  { key: 'network-preferences', read: `${pathWord(tool.cat)} ${pathWord(place.networkPreferences)}` },
  { key: 'service-order', read: `${pathWord(tool.networksetup)} -listnetworkserviceorder` },
  { key: 'service-addresses', read: extract('NetworkServices', 'xml1') },
  { key: 'bridge', read: extract('VirtualNetworkInterfaces.Bridge') },
  { key: 'disabled-services', read: `${pathWord(tool.launchctl)} print-disabled system` },
  spotlight.before,
  timeMachine.before,
  photosAnalysis.before,
  {
    key: 'opt-folder',
    read: `if [ -e ${pathWord(place.optParent)} ]; then printf 'there\\n'; else printf 'missing\\n'; fi`,
  },
  ...settings.flatMap((one) => ('before' in one ? [one.before] : [])),
];

/** Every value, in the order in which they are read and restored. If a value is listed twice, its first place counts. */
export const baselineValues: readonly BaselineValue[] = [...new Set(listed)];

/** The values that an observation reads. The copy of the whole preferences file is only for people. */
export const comparedKeys: readonly string[] = baselineValues
  .map(({ key }) => key)
  .filter((key) => key !== 'network-preferences');

/** The state of the node before the first run changed anything, as recorded by that run. */
export const baselineFact = defineFact({
  name: 'baseline',
  from: [storedRecords],
  parse: ([answer]): Known<Baseline> =>
    andThen(readStoredRecords(answer), (records) => {
      const { values, daemons } = records.baseline;
      const isAsked = ({ key }: { readonly key: string }): boolean => baselineValues.some((one) => one.key === key);
      if (!values.every(isAsked)) return garbled(answer, 'printed an unexpected value');
      return known({ values: baselineValues.flatMap(({ key }) => values.filter((one) => one.key === key)), daemons });
    }),
  text: ({ values, daemons }) => [
    values.length === 0 ? 'none' : values.map(({ key, text }) => (text === undefined ? `${key} (unreadable)` : key)),
    ...daemons.map(({ label, isMoved }) => `${label} was stopped${isMoved ? ', its plist moved' : ''}`),
  ],
});

/** Identifies a list of values, so that a later version notices missing values. */
const listMark = (values: readonly BaselineValue[]): string =>
  posixCksum(new TextEncoder().encode(values.map(({ key }) => key).join(' '))).replace(' ', '-');

const valueLines = ({ key, read }: BaselineValue): string => `if isnew ${key}; then
  (
    ${read}
  ) >"$k.$$" 2>/dev/null || true >"$k.$$"
  keep
fi`;

/**
 * Records the values of settings before the first change, for uninstall. If all are recorded, this is one test of a
 * file. The lines run before the lease is taken, so a node with a lease has its baseline. A failure does not stop the
 * run. Every value is a file that is written next to its place and then linked to it. The link fails if the file
 * exists, so no run overwrites a value. An empty file means that the value could not be read. Such a value is not read
 * again, because by then it may be a value that we set.
 */
export function recordBaselineLines(values: readonly BaselineValue[] = baselineValues): string {
  const mark = pathWord(below(place.baseline, `.whole-${listMark(values)}`));
  return `isnew() {
  k=${pathWord(place.baseline)}/$1
  [ ! -e "$k" ]
}
keep() {
  ${pathWord(tool.ln)} "$k.$$" "$k" 2>/dev/null
  ${pathWord(tool.rm)} -f "$k.$$"
}
record() {
  ${pathWord(tool.mkdir)} -p ${pathWord(place.baseline)} || return
${values.map(valueLines).join('\n')}
  for k in ${values.map(({ key }) => key).join(' ')}; do
    isnew "$k" && return
  done
  ${pathWord(tool.rm)} -f ${pathWord(place.baseline)}/*.*
  true >${mark}
}
[ -e ${mark} ] || record 2>/dev/null`;
}

/**
 * Restores one value from the baseline and reads it again, because a tool may need a moment to show the new value.
 * @throws Error for a value without `restore`, which is a bug
 */
export function restoreValue({ key }: ScriptArgs['restore-value']): string {
  const value = baselineValues.find((one) => one.key === key);
  if (value?.restore === undefined) throw new Error(`nothing sets ${key} back`);
  const file = pathWord(below(place.baseline, key));
  return `isback() {
  o=$(
    ${value.read}
  ) || return 1
  ${value.isBack ?? '[ "$o" = "$v" ]'}
}
setback() {
${value.restore}
}
v=$(${pathWord(tool.cat)} ${file} 2>/dev/null)
[ -n "$v" ] || failed no-baseline 'the baseline does not have this value'
isback && unchanged
s=$(setback 2>&1) || failed restore "\${s:-the value could not be set back}"
n=0
until isback; do
  n=$((n + 1))
  [ "$n" -lt 20 ] || failed restore 'the value was taken and another one is shown'
  ${pathWord(tool.sleep)} 0.25
done
changed`;
}
