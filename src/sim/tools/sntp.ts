import { from, lines, type Tool, type ToolChange, unconfirmedUsage } from './tool.ts';

const setClock: ToolChange = ({ mac, isRoot, words: [host = ''] }) => {
  if (!/^[a-z0-9.-]+$/.test(host)) return undefined;
  if (!isRoot) return { stderr: lines('sntp: settimeofday: Operation not permitted'), exitCode: 1 };
  const offset = -mac.clockOffsetSeconds;
  return {
    after: { clockOffsetSeconds: 0 },
    stdout: lines(`${offset < 0 ? '' : '+'}${offset.toFixed(6)} +/- 0.018240 ${host} 17.253.4.125`),
  };
};

const source = from.unconfirmed(
  'sntp -sS prints "OFFSET +/- ERROR HOST ADDRESS" and sets the clock; without root, it fails',
);

/** `sntp -sS`: sets the clock. Every simulated rack reaches a time server. */
export const sntp: Tool = {
  path: '/usr/bin/sntp',
  writes: [{ form: '-sS HOST', source, change: setClock }],
  usage: unconfirmedUsage(
    'sntp',
    64,
    'usage: sntp [-46dsS] [-K leapfile] [-n number_samples] [-t timeout] host-or-IPaddress',
  ),
};
