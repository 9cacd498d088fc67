import type { Traces } from '../../model/facts/node-records.ts';
import { type Known, mapKnown } from '../../model/known.ts';
import { readKept } from '../../node/probes/kept.ts';
import { keptRecords } from '../../node/probes/kept-scripts.ts';
import { defineFact } from '../fact.ts';

/** Everything that meshwright has stored on the node, including its access. */
export const tracesFact = defineFact({
  name: 'traces',
  from: [keptRecords],
  parse: ([answer]): Known<Traces> => mapKnown(readKept(answer), ({ traces }) => traces),
  text: ({ hasFolder, trees, hasSudoers, hasKey }) => [
    [
      ...(hasFolder ? ['folder'] : []),
      ...(trees === 'none' || trees === 'theirs' ? [] : [trees === 'models' ? 'models' : 'trees']),
      ...(hasSudoers ? ['sudoers'] : []),
      ...(hasKey ? ['key'] : []),
    ],
  ],
});
