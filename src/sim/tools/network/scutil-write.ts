import { withMac } from '../../model/fleet.ts';
import { type NameKey, withName } from '../../model/network-preferences.ts';
import { unconfirmed } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

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
export const scutilWrites: Writes = { forms, write };
