import {
  apple,
  lines,
  type TableTool,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

const source = apple('shutdown.c of system_cmds: "Shutdown NOW!", two bells, and "NOT super-user" with exit 1');

const forms: readonly WriteForm[] = [
  { form: '-r now', match: "'2:-r now'", source },
  { form: '-h now', match: "'2:-h now'", source },
];

function write({ fleet }: View, { args, isRoot }: WriteCall): WriteResult {
  if (!isRoot) return { fleet, stderr: lines('shutdown: NOT super-user'), exitCode: 1 };
  return {
    fleet,
    stdout: 'Shutdown NOW!\n\r\nSystem shutdown time has arrived\u0007\u0007\r\n',
    power: args[0] === '-r' ? 'restart' : 'off',
  };
}

/** `shutdown -r now` and `-h now`. They come back at once; the Mac goes down behind them. */
const shutdownWrites: Writes = { forms, write };

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
