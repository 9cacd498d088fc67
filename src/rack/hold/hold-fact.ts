import type { NodeHold } from '../../model/facts/node-records.ts';
import { given } from '../../model/given.ts';
import { type Known, known } from '../../model/known.ts';
import { isDayOver } from '../../model/text/units.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { readStoredRecords } from '../../node/probes/stored-records.ts';
import { storedRecords } from '../../node/probes/stored-records-scripts.ts';
import { defineFact } from '../fact.ts';

/** The hold that `hold` wrote on the node. The controller's clock decides whether it has expired. */
export const holdFact = defineFact({
  name: 'hold',
  from: [storedRecords],
  parse: ([answer], { receivedAtEpochMs }): Known<readonly NodeHold[]> => {
    const records = readStoredRecords(answer);
    if (records.kind === 'unknown') return records;
    const [found] = records.value.holds;
    if (found === undefined) return known([]);
    const { reason, until, by, since } = found.fields;
    if (reason === undefined || by === undefined || since === undefined) {
      return garbled(answer, 'printed a hold without its reason');
    }
    const isOver = until !== undefined && isDayOver(until, receivedAtEpochMs);
    return known([{ reason, by, since, isOver, ...given({ until }) }]);
  },
  text: (holds) =>
    holds.map(({ reason, until, by, since, isOver }) => [
      reason,
      `by ${by} since ${since}`,
      ...(until === undefined ? [] : [`until ${until}${isOver ? ', expired' : ''}`]),
    ]),
});
