import { capture, lines, type TableTool, unconfirmed } from '../tool.ts';

/** `csrutil status`: System Integrity Protection is on, as on every Mac that nobody opened. */
export const csrutil: TableTool = {
  kind: 'table',
  path: '/usr/bin/csrutil',
  rows: () => [
    {
      args: ['status'],
      source: capture('csrutil-status.enabled.txt', 'log of a posture tool, MacBook Pro M3 Max'),
      stdout: lines('System Integrity Protection status: enabled.'),
    },
  ],
  usage: {
    text: lines('usage: csrutil <command>'),
    exitCode: 64,
    source: unconfirmed("csrutil's usage text and exit code 64"),
  },
};
