import { apple } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { shutdownWrites } from './shutdown-write.ts';

/** `shutdown`, which restarts the Mac or switches it off. */
export const shutdown: TableTool = {
  kind: 'table',
  path: '/sbin/shutdown',
  rows: () => [],
  writes: shutdownWrites,
  usage: {
    text: lines('usage: shutdown [-] [-h | -r | -s | -k] [-o [-n]] [-q] time [warning-message ...]'),
    exitCode: 1,
    source: apple('shutdown.c of system_cmds'),
  },
};
