/**
 * What apply changes of a Mac, as it was before: the one list of values that are written down when a run takes the lease for
 * the first time, how they are written down, and how those that one tool sets are set back.
 */
import type { Baseline } from '../../model/facts/node-records.ts';
import { andThen, type Known, known, mapKnown } from '../../model/known.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { readKept } from '../../node/probes/kept.ts';
import { keptRecords } from '../../node/probes/kept-scripts.ts';
import { posixCksum } from '../../node/put-file.ts';
import type { Before } from '../define-setting.ts';
import { defineFact, read } from '../fact.ts';
import { wiredLimitFact } from '../memory/fact.ts';
import { photosAnalysis, spotlight, timeMachine } from '../settings/background-services.ts';
import { power } from '../settings/power.ts';
import { settings } from '../settings/settings.ts';

/** One value of a Mac that apply changes. What is no setting of one tool (the network, daemons) has steps of its own. */
export interface BaselineValue extends Pick<Before, 'read'>, Partial<Omit<Before, 'read'>> {
  /** Its file in the folder of the baseline. */
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

/** Every value, in the order in which they are read and set back. Settings with a place of their own are in their list too: the first place counts. */
export const baselineValues: readonly BaselineValue[] = [...new Set(listed)];

/** What an observation reads of them: the copy of a whole file is kept for people, and nothing is compared with it. */
export const comparedKeys: readonly string[] = baselineValues
  .map(({ key }) => key)
  .filter((key) => key !== 'network-preferences');

/** What the node was like before the first run changed anything, as that run has written it down. */
export const baselineFact = defineFact({
  name: 'baseline',
  from: [keptRecords],
  parse: ([answer]): Known<Baseline> =>
    andThen(readKept(answer), (kept) => {
      const { values, daemons } = kept.baseline;
      const isAsked = ({ key }: { readonly key: string }): boolean => baselineValues.some((one) => one.key === key);
      if (!values.every(isAsked)) return garbled(answer, 'printed a value that nothing asks for');
      return known({ values: baselineValues.flatMap(({ key }) => values.filter((one) => one.key === key)), daemons });
    }),
  text: ({ values, daemons }) => [
    values.length === 0 ? 'none' : values.map(({ key, text }) => (text === undefined ? `${key} (unreadable)` : key)),
    ...daemons.map(({ label, isMoved }) => `${label} was stopped${isMoved ? ', its plist moved' : ''}`),
  ],
});

/** Tells one list of values from another, so that a later version notices that some are missing. */
const listMark = (values: readonly BaselineValue[]): string =>
  posixCksum(new TextEncoder().encode(values.map(({ key }) => key).join(' '))).replace(' ', '-');

const valueLines = ({ key, read }: BaselineValue): string => `if isnew ${key}; then
  (
    ${read}
  ) >"$k.$$" 2>/dev/null || true >"$k.$$"
  keep
fi`;

/**
 * Writes down the values of settings from before the first change, for uninstall; one test of a file when all of it
 * is. They stand before the lease is taken, so that a node on which there is a lease has its baseline, and what fails
 * in them keeps no run from it. Every value is a file, made whole beside its place and linked to it, which fails where it is
 * there already: no run ever writes over one. An empty file is a value that could not be read then; it is not read again,
 * since by then it may be ours.
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
 * Sets one value back to what the baseline says, and reads it again. A tool may need a moment to show what it took.
 * @throws Error for a value that nothing sets back, which is our own choice
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
