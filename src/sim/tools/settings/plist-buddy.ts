import { withMac } from '../../model/fleet.ts';
import { preferencesPath } from '../../model/network-preferences.ts';
import { isDict, type PlistDict, type PlistValue } from '../../model/plist.ts';
import {
  apple,
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
    form: `-c 'Print :KEY...' ${preferencesPath}`,
    match: "3:'-c Print '*",
    source: unconfirmed('PlistBuddy prints a dictionary as "Dict {", four blanks per level, "key = value"'),
  },
  {
    form: `-c 'Delete :KEY...' ${preferencesPath}`,
    match: "3:'-c Delete '*",
    source: apple('PlistBuddy(8); the words for a missing entry are quoted in many public scripts'),
  },
];

const deeper = '    ';

/** A value as `Print` shows it. */
function printed(value: PlistValue, indent = ''): string {
  if (typeof value !== 'object') return String(value);
  const inner = indent + deeper;
  if (isDict(value)) {
    const entries = Object.entries(value).map(([key, one]) => `${inner}${key} = ${printed(one, inner)}\n`);
    return `Dict {\n${entries.join('')}${indent}}`;
  }
  return `Array {\n${value.map((one) => `${inner}${printed(one, inner)}\n`).join('')}${indent}}`;
}

function valueAt(value: PlistValue | undefined, path: readonly string[]): PlistValue | undefined {
  const [key, ...rest] = path;
  if (key === undefined || value === undefined) return value;
  return isDict(value) && Object.hasOwn(value, key) ? valueAt(value[key], rest) : undefined;
}

function without(dict: PlistDict, [key = '', ...rest]: readonly string[]): PlistDict {
  const { [key]: value, ...others } = dict;
  if (rest.length === 0) return others;
  return value !== undefined && isDict(value) ? { ...dict, [key]: without(value, rest) } : dict;
}

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const [, command = '', file] = args;
  const [, verb, entry = ''] = /^(Print|Delete) (:.+)$/.exec(command) ?? [];
  if (verb === undefined || file !== preferencesPath) return undefined;
  const path = entry.slice(1).split(':');
  const value = valueAt(mac.preferences, path);
  if (value === undefined) return { fleet, stderr: lines(`${verb}: Entry, "${entry}", Does Not Exist`), exitCode: 1 };
  if (verb === 'Print') return { fleet, stdout: lines(printed(value)) };
  if (!isRoot) return { fleet, stderr: lines(`Error Opening/Creating File: ${file}`), exitCode: 1 };
  return {
    fleet: withMac(fleet, mac.name, (one) => ({ ...one, preferences: without(one.preferences, path) })),
  };
}

/** `PlistBuddy -c` on the network preferences: of the file itself, whoever wrote it. The running system keeps its network. */
const plistBuddyWrites: Writes = { forms, write };

/** `PlistBuddy`, the editor of property lists. */
export const plistBuddy: TableTool = {
  kind: 'table',
  path: '/usr/libexec/PlistBuddy',
  rows: () => [],
  writes: plistBuddyWrites,
  usage: {
    text: lines(
      'Usage: PlistBuddy [-cxh] <file.plist>',
      '    -c "<command>" execute command, otherwise run in interactive mode',
    ),
    exitCode: 1,
    source: unconfirmed("PlistBuddy's usage text and exit code 1"),
  },
};
