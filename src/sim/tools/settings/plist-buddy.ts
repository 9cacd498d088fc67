import { unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { plistBuddyWrites } from './plist-buddy-write.ts';

/** `PlistBuddy`, the editor of property lists. */
export const plistBuddy: TableTool = {
  kind: 'table',
  path: '/usr/libexec/PlistBuddy',
  rows: () => [],
  writes: plistBuddyWrites,
  usage: {
    text: lines(
      'Usage: PlistBuddy [-cxh] <file.plist>',
      '    -c "<command>" execute command, otherwise run in interactive mode',
    ),
    exitCode: 1,
    source: unconfirmed("PlistBuddy's usage text and exit code 1"),
  },
};
