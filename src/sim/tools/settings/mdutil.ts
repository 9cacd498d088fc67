import { indexingText } from '../../model/indexing-text.ts';
import { published, unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { mdutilWrites } from './mdutil-write.ts';

/** `mdutil` for all volumes. */
export const mdutil: TableTool = {
  kind: 'table',
  path: '/usr/bin/mdutil',
  rows: ({ mac }) => [
    {
      args: ['-a', '-s'],
      source: published('a line with the volume, then a tab and "Indexing enabled. ", in many public guides'),
      stdout: indexingText(mac),
    },
  ],
  writes: mdutilWrites,
  usage: {
    text: lines('Usage: mdutil -pEsa -i (on|off) -d volume ...'),
    exitCode: 1,
    source: unconfirmed("mdutil's usage text and exit code 1"),
  },
};
