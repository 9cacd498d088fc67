import { isDayOver } from '../../model/facts/hold-day.ts';
import { known } from '../../model/known.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { readKept } from '../../node/probes/kept.ts';
import { keptRecords } from '../../node/probes/ours.ts';
import type { Fact } from '../fact.ts';

/** That the node is to be left alone, as `hold` has written it down; whether that is over goes by our own clock. */
export const hold: Fact<'hold'> = {
  name: 'hold',
  from: [keptRecords],
  parse: ([answer], { receivedAtEpochMs }) => {
    const kept = readKept(answer);
    if (kept.kind === 'unknown') return kept;
    const [found] = kept.value.holds;
    if (found === undefined) return known([]);
    const { reason, until, by, since } = found.fields;
    if (reason === undefined || by === undefined || since === undefined) {
      return garbled(answer, 'printed a hold without its reason');
    }
    const isOver = until !== undefined && isDayOver(until, receivedAtEpochMs);
    return known([{ reason, by, since, isOver, ...(until === undefined ? {} : { until }) }]);
  },
};
