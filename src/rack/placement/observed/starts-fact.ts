import type { RebootMark } from '../../../model/facts/node-records.ts';
import { given } from '../../../model/given.ts';
import { andThen, type Known, known, mapKnown } from '../../../model/known.ts';
import { isUuid, wholeNumber } from '../../../node/answers/grammar.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { placementMembers } from '../../../node/probes/placement-members.ts';
import { sysctl } from '../../../node/probes/system.ts';
import { mostWiredBytes } from '../../../node/wired-memory.ts';
import { bootSessionFact } from '../../boot/fact.ts';
import { defineFact } from '../../fact.ts';
import { readPlacements } from './fact.ts';

/** Why the node needs a restart before any rank may be started there; one of an earlier boot session is over, and one of memory that has gone back since. */
export const rebootMarkFact = defineFact({
  name: 'reboot-mark',
  from: [placementMembers, sysctl],
  parse: ([answer, values], asked): Known<readonly RebootMark[]> =>
    andThen(readPlacements(answer), ({ rebootMark: fields }) => {
      if (fields === undefined) return known([]);
      const mark = markOf(fields);
      if (mark === undefined) return garbled(answer, 'printed a mark of a restart that cannot be read');
      return mapKnown(bootSessionFact.parse([values], asked), ({ uuid }) =>
        uuid !== fields['boot'] || hasFallen(mark, wholeNumber(fields['now'])) ? [] : [mark],
      );
    }),
  /** Why the node needs a restart before any rank may be started there. */
  text: (marks) =>
    marks.length === 0
      ? 'not set'
      : marks.map(({ placement, why, wiredBytes, baselineBytes }) =>
          why === 'kernel'
            ? `after ${placement}: KILL did not end it`
            : `after ${placement}: ${wiredBytes} bytes wired, ${baselineBytes} before`,
        ),
});

/** Whether what stayed wired is free by now: then it was not the kernel that held it. */
const hasFallen = ({ baselineBytes }: RebootMark, nowBytes: number | undefined): boolean =>
  baselineBytes !== undefined && nowBytes !== undefined && nowBytes <= mostWiredBytes(baselineBytes);

function markOf(fields: Readonly<Record<string, string>>): RebootMark | undefined {
  const { boot = '', why = '', placement = '' } = fields;
  if (!isUuid(boot) || placement === '') return undefined;
  if (why === 'kernel') return { placement, why };
  const wiredBytes = wholeNumber(fields['wired']);
  const baselineBytes = wholeNumber(fields['baseline']);
  if (why !== 'memory' || wiredBytes === undefined || baselineBytes === undefined) return undefined;
  return { placement, why, wiredBytes, baselineBytes };
}

/** The last start of a member over RDMA. */
export interface RdmaStart {
  readonly placement: string;
  /** The boot session in which it was. */
  readonly startedIn: string;
  /** The last line of its log since then that speaks of the verbs library. */
  readonly complaint?: string;
}

/** Starts of ranks over RDMA on one node, over all placements, those included that are gone. */
export interface RdmaStarts {
  /** The boot session that they are counted in; empty before the first one. */
  readonly startedIn: string;
  readonly starts: number;
  /** Of the members that are there. */
  readonly last: readonly RdmaStart[];
}

/** How often ranks over RDMA were started on this node, and what the last start of each member has complained about. */
export const rdmaStartsFact = defineFact({
  name: 'rdma-starts',
  from: [placementMembers],
  parse: ([answer]): Known<RdmaStarts> =>
    andThen(readPlacements(answer), ({ starts: allStarts, rdmaStarts }) => {
      const marks = [...allStarts].filter(([, { transport }]) => transport !== 'tcp');
      const last = marks.map(([placement, fields]) => startOf(placement, fields));
      if (!last.every((start) => start !== undefined)) return garbled(answer, 'printed a start that cannot be read');
      const { boot = '', starts = '' } = rdmaStarts ?? { boot: '', starts: '0' };
      const count = wholeNumber(starts);
      const isRead = count !== undefined && (isUuid(boot) || (boot === '' && count === 0));
      return isRead
        ? known({ startedIn: boot, starts: count, last })
        : garbled(answer, 'printed a count of starts that cannot be read');
    }),
  text: ({ startedIn, starts, last }) => [
    startedIn === '' ? 'none yet' : `${starts} in boot session ${startedIn}`,
    ...last.flatMap(({ placement, complaint }) => (complaint === undefined ? [] : [`${placement} said: ${complaint}`])),
  ],
});

function startOf(placement: string, { boot = '', complaint }: Readonly<Record<string, string>>): RdmaStart | undefined {
  if (!isUuid(boot)) return undefined;
  return { placement, startedIn: boot, ...given({ complaint }) };
}
