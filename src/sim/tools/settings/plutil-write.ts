import { withMac } from '../../model/fleet.ts';
import { preferencesPath } from '../../model/network-preferences.ts';
import { isDict, type PlistDict, type PlistValue } from '../../model/plist.ts';
import { unconfirmed } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult } from '../tool.ts';

/** The one form that changes a file. */
export const plutilForms: readonly WriteForm[] = [
  {
    form: `-insert KEYPATH -json JSON ${preferencesPath}`,
    match: "5:'-insert '*' -json '*",
    source: unconfirmed(
      'plutil -insert KEYPATH -json VALUE puts a dictionary into the network preferences, and refuses a key that is there',
    ),
  },
];

/** The dictionary with the value at this path; undefined where its parent is missing, or it is there already. */
function inserted(dict: PlistDict, [key = '', ...rest]: readonly string[], value: PlistValue): PlistDict | undefined {
  const old = Object.hasOwn(dict, key) ? dict[key] : undefined;
  if (rest.length === 0) return old === undefined ? { ...dict, [key]: value } : undefined;
  const inner = old !== undefined && isDict(old) ? inserted(old, rest, value) : undefined;
  return inner === undefined ? undefined : { ...dict, [key]: inner };
}

function jsonValue(text: string): PlistValue | undefined {
  try {
    return JSON.parse(text) as PlistValue;
  } catch {
    return undefined;
  }
}

/** `plutil -insert` into the network preferences: of the file itself; the running system keeps its network. */
export function insertByPlutil({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const [verb, keyPath = '', type, json = '', file] = args;
  const value = jsonValue(json);
  if (verb !== '-insert' || type !== '-json' || file !== preferencesPath || value === undefined) return undefined;
  const failed = (why: string): WriteResult => ({ fleet, stderr: lines(`${file}: ${why}`), exitCode: 1 });
  if (!isRoot) return failed('Could not write file');
  const preferences = inserted(mac.preferences, keyPath.split('.'), value);
  if (preferences === undefined) return failed(`Could not modify plist, error: ${keyPath}`);
  return { fleet: withMac(fleet, mac.name, (one) => ({ ...one, preferences })) };
}
