import type { RdmaStart, RdmaStarts } from '../../../model/facts/node-records.ts';
import { type Known, known } from '../../../model/known.ts';
import { isUuid, wholeNumber } from '../../../node/answers/grammar.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { placementMembers } from '../../../node/probes/ours.ts';
import { defineFact } from '../../fact.ts';
import { readPlacements } from './placement-records.ts';

/** How often ranks over RDMA were started on this node, and what the last start of each member has complained about. */
export const rdmaStartsFact = defineFact({
  name: 'rdma-starts',
  from: [placementMembers],
  parse: ([answer]): Known<RdmaStarts> => {
    const seen = readPlacements(answer);
    if (seen.kind === 'unknown') return seen;
    const marks = [...seen.value.starts].filter(([, { transport }]) => transport !== 'tcp');
    const last = marks.map(([placement, fields]) => startOf(placement, fields));
    if (!last.every((start) => start !== undefined)) return garbled(answer, 'printed a start that cannot be read');
    const { boot = '', starts = '' } = seen.value.rdmaStarts ?? { boot: '', starts: '0' };
    const count = wholeNumber(starts);
    const isRead = count !== undefined && (isUuid(boot) || (boot === '' && count === 0));
    return isRead
      ? known({ startedIn: boot, starts: count, last })
      : garbled(answer, 'printed a count of starts that cannot be read');
  },
});

function startOf(placement: string, { boot = '', complaint }: Readonly<Record<string, string>>): RdmaStart | undefined {
  if (!isUuid(boot)) return undefined;
  return { placement, startedIn: boot, ...(complaint === undefined ? {} : { complaint }) };
}
