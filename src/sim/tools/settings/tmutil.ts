import { unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { tmutilWrites } from './tmutil-write.ts';

/** `tmutil enable` and `tmutil disable`. */
export const tmutil: TableTool = {
  kind: 'table',
  path: '/usr/bin/tmutil',
  rows: () => [],
  writes: tmutilWrites,
  usage: {
    text: lines('Usage: tmutil help <verb>'),
    exitCode: 64,
    source: unconfirmed("tmutil's usage text and exit code 64"),
  },
};
