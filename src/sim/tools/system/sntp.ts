import { unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { sntpWrites } from './sntp-write.ts';

/** `sntp -sS`: the clock is set; every simulated rack reaches a time server. */
export const sntp: TableTool = {
  kind: 'table',
  path: '/usr/bin/sntp',
  rows: () => [],
  writes: sntpWrites,
  usage: {
    text: lines('usage: sntp [-46dsS] [-K leapfile] [-n number_samples] [-t timeout] host-or-IPaddress'),
    exitCode: 64,
    source: unconfirmed("sntp's usage text and exit code 64"),
  },
};
