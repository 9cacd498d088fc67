import { type ForeignDaemon, knownDaemons } from '../../model/facts/daemons.ts';
import { andThen, type Known, unknown } from '../../model/known.ts';
import { isLoaded, overrideOf } from '../../node/answers/launchd.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { type NodeRecord, readRecords } from '../../node/answers/records.ts';
import { foreignDaemonList } from '../../node/probes/foreign-daemons.ts';
import { defineFact, eachOnce, readEach } from '../fact.ts';

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

/** Network daemons of others whose plist lies on the node. One that runs without its plist is gone with the next start. */
export const foreignDaemonsFact = defineFact({
  name: 'foreign-daemons',
  from: [foreignDaemonList],
  parse: ([answer]): Known<readonly ForeignDaemon[]> =>
    andThen(readRecords(answer), (records) => {
      const pairs = records.flatMap((_, at) => (at % 2 === 0 ? [records.slice(at, at + 2)] : []));
      const unread = garbled(answer, 'said something of a daemon that cannot be read');
      return andThen(readEach(pairs, daemonOf, unread), (all) =>
        eachOnce(all, ({ label }) => label, unknown('garbled', 'One daemon was described twice.')),
      );
    }),
  text: (daemons) =>
    daemons.map((one) => `${one.label} ${one.isLoaded ? 'loaded' : 'not loaded'}${one.isDisabled ? ', disabled' : ''}`),
});
