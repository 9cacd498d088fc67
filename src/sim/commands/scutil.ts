import { apple, unconfirmed } from './source.ts';
import { lines, type TableTool } from './tool.ts';

/** `scutil --get`: the names of the Mac. HostName is unset, as on every new Mac. */
export const scutil: TableTool = {
  kind: 'table',
  path: '/usr/sbin/scutil',
  rows: ({ mac }) => [
    { args: ['--get', 'ComputerName'], source: apple('scutil(8)'), stdout: lines(mac.name) },
    { args: ['--get', 'LocalHostName'], source: apple('scutil(8)'), stdout: lines(mac.name) },
    {
      args: ['--get', 'HostName'],
      source: unconfirmed('scutil --get HostName when unset: "HostName: not set" on stderr, exit 1'),
      stderr: lines('HostName: not set'),
      exitCode: 1,
    },
  ],
  usage: {
    text: lines(
      'usage: scutil',
      '\tinteractive access to the dynamic store.',
      '',
      '   or: scutil --get pref',
      '   or: scutil --set pref [newval]',
      '   or: scutil --get filename path key  ',
      '\tpref\tdisplay (or set) the specified preference.  Valid preferences',
      '\t\tinclude:',
      '\t\t\tComputerName, LocalHostName, HostName',
    ),
    exitCode: 64,
    source: unconfirmed("scutil's usage text and exit code 64"),
  },
};
