import type { MacState } from '../../model/fleet.ts';
import { nameIn } from '../../model/network-preferences.ts';
import { apple, lines, type TableTool, unconfirmed } from '../tool.ts';

/** The Bonjour name while HostName is unset. */
const fullName = ({ preferences, name }: MacState): string =>
  nameIn(preferences, 'HostName') ?? `${nameIn(preferences, 'LocalHostName') ?? name}.local`;

/** `hostname`, by the names in the network preferences. */
export const hostname: TableTool = {
  kind: 'table',
  path: '/bin/hostname',
  rows: ({ mac }) => [
    { args: [], source: apple('hostname(1)'), stdout: lines(fullName(mac)) },
    { args: ['-f'], source: apple('hostname(1)'), stdout: lines(fullName(mac)) },
    { args: ['-s'], source: apple('hostname(1)'), stdout: lines(fullName(mac).replace(/\..*/, '')) },
  ],
  usage: {
    text: lines('usage: hostname [-f] [-s | -d] [name-of-host]'),
    exitCode: 1,
    source: unconfirmed("hostname's usage text and exit code 1"),
  },
};
