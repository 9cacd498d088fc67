import type { MacState } from '../model/fleet.ts';
import { type NameKey, nameIn, nameKeys, withName } from '../model/network.ts';
import { from, lines, type Row, row, type Tool, type ToolChange, unconfirmedUsage } from './tool.ts';

const isLabel = (name: string): boolean => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(name);

const setName: ToolChange = ({ mac, isRoot, words: [word, name = ''] }) => {
  const key = nameKeys.find((one) => one === word);
  if (key === undefined) return undefined;
  if (!isRoot) return { stderr: lines('SCPreferencesCommitChanges() failed: Permission denied'), exitCode: 1 };
  if (key === 'LocalHostName' && name !== '' && !isLabel(name)) {
    return { stderr: lines('Set LocalHostName failed: Invalid argument'), exitCode: 1 };
  }
  return { after: { preferences: withName(mac.preferences, key, name) } };
};

const unset = from.unconfirmed('scutil --get HostName without a host name: "HostName: not set" on stderr, exit 1');

function nameRow({ preferences }: MacState, key: NameKey): Row {
  const name = nameIn(preferences, key);
  const args = ['--get', key];
  return name === undefined
    ? { args, source: unset, stderr: lines(`${key}: not set`), exitCode: 1 }
    : row(args, from.apple('scutil(8)'), lines(name));
}

/** `scutil --get` and `--set`: the Mac's names. HostName is not set on a new Mac. */
export const scutil: Tool = {
  path: '/usr/sbin/scutil',
  rows: ({ mac }) => nameKeys.map((key) => nameRow(mac, key)),
  writes: [
    {
      form: `--set ${nameKeys.join('|')} NAME`,
      source: from.unconfirmed(
        'scutil --set prints nothing, and an empty name removes the name; without root, it prints "SCPreferencesCommitChanges() failed" and exits with 1. A Bonjour name is a single DNS label',
      ),
      change: setName,
    },
  ],
  usage: unconfirmedUsage(
    'scutil',
    64,
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
};

/** The full name from HostName or, if that is not set, the Bonjour name. */
const fullName = ({ preferences, name }: MacState): string =>
  nameIn(preferences, 'HostName') ?? `${nameIn(preferences, 'LocalHostName') ?? name}.local`;

export const hostname: Tool = {
  path: '/bin/hostname',
  rows: ({ mac }) => [
    row([], from.apple('hostname(1)'), lines(fullName(mac))),
    row(['-f'], from.apple('hostname(1)'), lines(fullName(mac))),
    row(['-s'], from.apple('hostname(1)'), lines(fullName(mac).replace(/\..*/, ''))),
  ],
  usage: unconfirmedUsage('hostname', 1, 'usage: hostname [-f] [-s | -d] [name-of-host]'),
};
