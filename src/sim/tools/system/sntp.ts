import { withMac } from '../../model/fleet.ts';
import {
  lines,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

const forms: readonly WriteForm[] = [
  {
    form: '-sS HOST',
    match: "'2:-sS '*",
    source: unconfirmed('sntp -sS prints "OFFSET +/- ERROR HOST ADDRESS" and sets the clock; without root it fails'),
  },
];

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const host = args[1] ?? '';
  if (!/^[a-z0-9.-]+$/.test(host)) return undefined;
  if (!isRoot) return { fleet, stderr: lines('sntp: settimeofday: Operation not permitted'), exitCode: 1 };
  const offset = -mac.clockOffsetSeconds;
  return {
    fleet: withMac(fleet, mac.name, (one) => ({ ...one, clockOffsetSeconds: 0 })),
    stdout: lines(`${offset < 0 ? '' : '+'}${offset.toFixed(6)} +/- 0.018240 ${host} 17.253.4.125`),
  };
}

/** `sntp -sS` by a server that knows the true time. */
const sntpWrites: Writes = { forms, write };

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
