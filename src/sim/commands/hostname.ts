import { apple, unconfirmed } from './source.ts';
import { lines, type TableTool } from './tool.ts';

/** `hostname`: the Bonjour name while HostName is unset. */
export const hostname: TableTool = {
  kind: 'table',
  path: '/bin/hostname',
  rows: ({ mac }) => [
    { args: [], source: apple('hostname(1)'), stdout: lines(`${mac.name}.local`) },
    { args: ['-f'], source: apple('hostname(1)'), stdout: lines(`${mac.name}.local`) },
    { args: ['-s'], source: apple('hostname(1)'), stdout: lines(mac.name) },
  ],
  usage: {
    text: lines('usage: hostname [-f] [-s | -d] [name-of-host]'),
    exitCode: 1,
    source: unconfirmed("hostname's usage text and exit code 1"),
  },
};
