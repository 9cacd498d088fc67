import { type ForeignDaemon, knownDaemons } from '../../model/facts/daemons.ts';
import { andThen, type Known, unknown } from '../../model/known.ts';
import { isLoaded, overrideOf } from '../../node/answers/launchd.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { type NodeRecord, readRecords } from '../../node/answers/records.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { recordProbe } from '../../node/probes/probe.ts';
import { defineFact, eachOnce, readEach } from '../fact.ts';

/**
 * Prints the launchd state of each known daemon whose plist is installed: a line `daemon LABEL EXIT` and the tool's lines,
 * each after `|`, then `override LABEL EXIT` and the lines of `print-disabled` about the daemon. The last line is `end`.
 * Without such a plist, launchd is not queried. Runs in the private folder of the observation and writes the file
 * `foreign` there.
 *
 * @see launchctl(1): print, print-disabled
 */
const script = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
f=${pathWord(place.launchDaemons)}
if [ ! -d "$f" ] || [ ! -r "$f" ] || [ ! -x "$f" ]; then
  printf "unreadable\\n"
  exit 0
fi
for l in ${knownDaemons.map(({ label }) => label).join(' ')}; do
  [ -e "$f/$l.plist" ] || [ -h "$f/$l.plist" ] || continue
  ${pathWord(tool.launchctl)} print "system/$l" >foreign 2>&1 &
  wait "$!"
  printf "daemon %s %s\\n" "$l" "$?"
  while IFS= read -r x || [ -n "$x" ]; do
    printf "|%s\\n" "$x"
  done <foreign
  ${pathWord(tool.launchctl)} print-disabled system >foreign 2>&1 &
  wait "$!"
  printf "override %s %s\\n" "$l" "$?"
  while IFS= read -r x || [ -n "$x" ]; do
    case $x in (*"\\"$l\\""*) printf "|%s\\n" "$x" ;; esac
  done <foreign
done
printf "end\\n"`;

const foreignDaemonList = recordProbe('foreign-daemons', script, 10_000);

const headForm = /^(daemon|override) ([a-z.]{1,100}) (\d{1,3})$/;

function daemonOf([daemon, override]: readonly NodeRecord[]): ForeignDaemon | undefined {
  const [, kind, label = '', code = ''] = headForm.exec(daemon?.head ?? '') ?? [];
  const [, otherKind, otherLabel, otherCode = ''] = headForm.exec(override?.head ?? '') ?? [];
  const isKnown = knownDaemons.some((one) => one.label === label);
  if (kind !== 'daemon' || otherKind !== 'override' || label !== otherLabel || !isKnown) return undefined;
  const loaded = isLoaded(code, daemon?.lines ?? []);
  const said = overrideOf(label, otherCode, override?.lines ?? []);
  return loaded === undefined || said === undefined
    ? undefined
    : { label, isLoaded: loaded, isDisabled: said === 'disabled' };
}

/** Foreign network daemons with a plist on the node. A daemon without a plist does not return after a restart. */
export const foreignDaemonsFact = defineFact({
  name: 'foreign-daemons',
  from: [foreignDaemonList],
  parse: ([answer]): Known<readonly ForeignDaemon[]> =>
    andThen(readRecords(answer), (records) => {
      const pairs = records.flatMap((_, at) => (at % 2 === 0 ? [records.slice(at, at + 2)] : []));
      const unread = garbled(answer, 'printed an unreadable daemon');
      return andThen(readEach(pairs, daemonOf, unread), (all) =>
        eachOnce(all, ({ label }) => label, unknown('garbled', 'One daemon was described twice.')),
      );
    }),
  text: (daemons) =>
    daemons.map((one) => `${one.label} ${one.isLoaded ? 'loaded' : 'not loaded'}${one.isDisabled ? ', disabled' : ''}`),
});
