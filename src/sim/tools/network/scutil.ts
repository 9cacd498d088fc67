import { type MacState, withMac } from '../../model/fleet.ts';
import { type NameKey, nameIn, withName } from '../../model/network-preferences.ts';
import {
  apple,
  lines,
  type Row,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

const source = unconfirmed(
  'scutil --set says nothing; without root "SCPreferencesCommitChanges() failed" with exit 1; a Bonjour name is one DNS label; an empty name takes it away',
);

const forms: readonly WriteForm[] = [
  { form: '--set ComputerName|LocalHostName|HostName NAME', match: "'3:--set '*", source },
];

const isNameKey = (word: string): word is NameKey =>
  word === 'ComputerName' || word === 'LocalHostName' || word === 'HostName';

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const [, key = '', name = ''] = args;
  if (!isNameKey(key)) return undefined;
  if (!isRoot) {
    return { fleet, stderr: lines('SCPreferencesCommitChanges() failed: Permission denied'), exitCode: 1 };
  }
  // A Bonjour name is one DNS label.
  if (key === 'LocalHostName' && name !== '' && !/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(name)) {
    return { fleet, stderr: lines('Set LocalHostName failed: Invalid argument'), exitCode: 1 };
  }
  return {
    fleet: withMac(fleet, mac.name, (one) => ({ ...one, preferences: withName(one.preferences, key, name) })),
  };
}

/** `scutil --set`: the names of the Mac, in the network preferences. */
const scutilWrites: Writes = { forms, write };

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
