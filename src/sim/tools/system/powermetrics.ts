import { unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { powermetricsWrites } from './powermetrics-write.ts';

/** `powermetrics`, of which one sample is known and which asks for root: it stands among the writes for that alone. */
export const powermetrics: TableTool = {
  kind: 'table',
  path: '/usr/bin/powermetrics',
  rows: () => [],
  writes: powermetricsWrites,
  usage: {
    text: lines('powermetrics: unrecognized arguments'),
    exitCode: 64,
    source: unconfirmed('powermetrics: what it says of arguments that it does not know'),
  },
};
