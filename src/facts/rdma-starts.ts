import { known } from '../model/known.ts';
import type { RdmaStart } from '../model/node-records.ts';
import type { Fact } from './fact.ts';
import { isUuid, wholeNumber } from './grammar.ts';
import { readPlacements } from './placement-records.ts';
import { placementMembers } from './probes/ours.ts';
import { garbled } from './read-answer.ts';

/** How often ranks over RDMA were started on this node, and what the last start of each member has complained about. */
export const rdmaStarts: Fact<'rdma-starts'> = {
  name: 'rdma-starts',
  from: [placementMembers],
  parse: ([answer]) => {
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
};

function startOf(placement: string, { boot = '', complaint }: Readonly<Record<string, string>>): RdmaStart | undefined {
  if (!isUuid(boot)) return undefined;
  return { placement, startedIn: boot, ...(complaint === undefined ? {} : { complaint }) };
}
