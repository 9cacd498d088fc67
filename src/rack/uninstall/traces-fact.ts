import type { Traces } from '../../model/facts/node-records.ts';
import { type Known, mapKnown } from '../../model/known.ts';
import { readStoredRecords } from '../../node/probes/stored-records.ts';
import { storedRecords } from '../../node/probes/stored-records-scripts.ts';
import { defineFact } from '../fact.ts';

export const tracesFact = defineFact({
  name: 'traces',
  from: [storedRecords],
  parse: ([answer]): Known<Traces> => mapKnown(readStoredRecords(answer), ({ traces }) => traces),
  text: ({ hasFolder, trees, hasSudoers, hasKey }) => [
    [
      ...(hasFolder ? ['folder'] : []),
      ...(trees === 'none' || trees === 'theirs' ? [] : [trees === 'models' ? 'models' : 'trees']),
      ...(hasSudoers ? ['sudoers'] : []),
      ...(hasKey ? ['key'] : []),
    ],
  ],
});
