import type { MacState } from '../../model/mac.ts';
import { type NameKey, nameIn } from '../../model/network-preferences.ts';
import { apple, unconfirmed } from '../source.ts';
import { lines, type Row, type TableTool } from '../tool.ts';
import { scutilWrites } from './scutil-write.ts';

/** The answer for a name that nobody has set. */
const unset = unconfirmed('scutil --get HostName when unset: "HostName: not set" on stderr, exit 1');

function nameRow({ preferences }: MacState, key: NameKey): Row {
  const name = nameIn(preferences, key);
  const args = ['--get', key];
  return name === undefined
    ? { args, source: unset, stderr: lines(`${key}: not set`), exitCode: 1 }
    : { args, source: apple('scutil(8)'), stdout: lines(name) };
}

/** `scutil --get` and `--set`: the names of the Mac. HostName is unset on every new Mac. */
export const scutil: TableTool = {
  kind: 'table',
  path: '/usr/sbin/scutil',
  rows: ({ mac }) => [nameRow(mac, 'ComputerName'), nameRow(mac, 'LocalHostName'), nameRow(mac, 'HostName')],
  writes: scutilWrites,
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
