import type { NodePath } from '../../model/probe.ts';
import type { MacState } from '../model/fleet.ts';
import { preferencesPath } from '../model/network-preferences.ts';
import { isDict, type PlistDict, type PlistValue, plistText } from '../model/plist.ts';
import {
  apple,
  type Change,
  capture,
  lines,
  published,
  type Row,
  row,
  type Source,
  type Tool,
  unconfirmed,
  unconfirmedUsage,
  type View,
  type WriteResult,
  type WriteView,
} from './tool.ts';

const stamp = '2026-11-20 09:41:00.000 defaults[4711:98765] ';

/** The value of `-bool true` or `-string ana`; undefined for another type. */
function typedValue(type: string | undefined, word: string): PlistValue | undefined {
  if (type === '-string') return word;
  if (/^(?:true|yes)$/i.test(word)) return true;
  return /^(?:false|no)$/i.test(word) ? false : undefined;
}

function setDomain({ mac, isRoot }: WriteView, domain: string, dict: PlistDict): WriteResult {
  if (!isRoot) return { stderr: lines(`${stamp}Could not write domain ${domain}; exiting`), exitCode: 1 };
  return { after: { domains: { ...mac.domains, [domain]: dict } } };
}

const writeKey: Change = (view) => {
  const [domain = '', key = '', type, word = ''] = view.words;
  const dict = view.mac.domains[domain];
  const value = typedValue(type, word);
  return dict === undefined || value === undefined ? undefined : setDomain(view, domain, { ...dict, [key]: value });
};

const deleteKey: Change = (view) => {
  const [domain = '', key = ''] = view.words;
  const dict = view.mac.domains[domain];
  if (dict === undefined) return undefined;
  if (view.isRoot && !Object.hasOwn(dict, key)) {
    return { stderr: lines(stamp, `Domain (${domain}) not found.`, 'Defaults have not been changed.'), exitCode: 1 };
  }
  return setDomain(view, domain, Object.fromEntries(Object.entries(dict).filter(([one]) => one !== key)));
};

const manual = apple('defaults(1): read, write, delete; a domain may be a path without .plist');
const path = (domain: string): NodePath => ({ kind: 'node-path', path: domain });

/** A flag is printed as a number. */
const shownValue = (value: PlistValue): string => String(typeof value === 'boolean' ? Number(value) : value);

const rowsOf = ({ mac }: View): readonly Row[] =>
  Object.entries(mac.domains).flatMap(([domain, dict]) =>
    Object.entries(dict).map(([key, value]) => row(['read', path(domain), key], manual, lines(shownValue(value)))),
  );

/** `defaults` for preference domains of the whole Mac, named by their path. */
export const defaults: Tool = {
  path: '/usr/bin/defaults',
  rows: rowsOf,
  patterns: [
    // Every other key of these domains is unset.
    {
      match: `"3:read $r/Library/Preferences/com.apple."*`,
      body: `printf '${stamp}\\nThe domain/default pair of (%s, %s) does not exist\\n' "$2" "$3" >&2; exit 1`,
      source: published(
        'the words for a key that nobody has set, behind a line with the time, quoted in many public issues; exit 1',
      ),
    },
  ],
  writes: [
    {
      form: 'write DOMAIN KEY -bool|-string VALUE',
      source: apple('defaults(1): write DOMAIN KEY -bool | -string VALUE'),
      change: writeKey,
    },
    {
      form: 'delete DOMAIN KEY',
      source: published('"Could not write domain …; exiting" with exit 1, in many public issues'),
      change: deleteKey,
    },
  ],
  usage: {
    text: lines(
      "Command line interface to a user's defaults.",
      'Syntax:',
      "'defaults' [-currentHost | -host <hostname>] followed by one of the following:",
    ),
    exitCode: 255,
    source: unconfirmed("defaults' usage text and exit code 255"),
  },
};

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

/** What a command does with the value of an entry, and with its keys. */
const ofEntry =
  (verb: string, act: (view: WriteView, value: PlistValue, path: readonly string[]) => WriteResult): Change =>
  (view) => {
    const [keys = ''] = view.words;
    if (keys === '') return undefined;
    const path = keys.split(':');
    const value = valueAt(view.mac.preferences, path);
    if (value === undefined) return { stderr: lines(`${verb}: Entry, ":${keys}", Does Not Exist`), exitCode: 1 };
    return act(view, value, path);
  };

/** `PlistBuddy -c` on the network preferences: of the file itself, whoever wrote it. The running system keeps its network. */
export const plistBuddy: Tool = {
  path: '/usr/libexec/PlistBuddy',
  writes: [
    {
      form: `-c 'Print :KEY...' ${preferencesPath}`,
      source: unconfirmed('PlistBuddy prints a dictionary as "Dict {", four blanks per level, "key = value"'),
      change: ofEntry('Print', (_, value) => ({ stdout: lines(printed(value)) })),
    },
    {
      form: `-c 'Delete :KEY...' ${preferencesPath}`,
      source: apple('PlistBuddy(8); the words for a missing entry are quoted in many public scripts'),
      change: ofEntry('Delete', ({ mac: { preferences }, isRoot }, _, path) =>
        isRoot
          ? { after: { preferences: without(preferences, path) } }
          : { stderr: lines(`Error Opening/Creating File: ${preferencesPath}`), exitCode: 1 },
      ),
    },
  ],
  usage: unconfirmedUsage(
    'PlistBuddy',
    1,
    'Usage: PlistBuddy [-cxh] <file.plist>',
    '    -c "<command>" execute command, otherwise run in interactive mode',
  ),
};

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
const insert: Change = ({ mac, isRoot, words: [keyPath = '', json = ''] }) => {
  const value = jsonValue(json);
  if (value === undefined) return undefined;
  const failed = (why: string): WriteResult => ({ stderr: lines(`${preferencesPath}: ${why}`), exitCode: 1 });
  if (!isRoot) return failed('Could not write file');
  const after = inserted(mac.preferences, keyPath.split('.'), value);
  return after === undefined ? failed(`Could not modify plist, error: ${keyPath}`) : { after: { preferences: after } };
};

const preferences: NodePath = { kind: 'node-path', path: preferencesPath };
const publisher = 'test data of a two-Mac cluster tool';
const present = capture('plutil-virtualnetworkinterfaces-bridge.mbp.bridge-present.json', publisher);
const deleted = capture('plutil-virtualnetworkinterfaces-bridge.m3ultra.bridge-deleted.json', publisher);
const services = unconfirmed('plutil -extract NetworkServices json: every service by its UUID, in one line');
const inXml = unconfirmed('plutil -extract NetworkServices xml1: the same as a property list of its own');
const names = unconfirmed('plutil -extract System json: computer name, Bonjour name and host name, in one line');
const missing = published('the message for a missing key, quoted in several public tests; exit 1');

/** The keys of a dictionary come in an order of plutil's own; captured is the reverse of the file's. */
function turned(value: PlistValue): unknown {
  if (typeof value !== 'object') return value;
  if (!isDict(value)) return value.map(turned);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, turned(one)]),
  );
}

/** Slashes are escaped, as everywhere in Apple's JSON. */
const json = (value: PlistValue): string => JSON.stringify(turned(value)).replaceAll('/', String.raw`\/`);

function extractRow(mac: MacState, keyPath: string, source: Source, form: 'json' | 'xml1' = 'json'): Row {
  const value = valueAt(mac.preferences, keyPath.split('.'));
  const row = { args: ['-extract', keyPath, form, '-o', '-', preferences], ifUnchanged: preferences };
  if (value !== undefined) return { ...row, source, stdout: form === 'json' ? lines(json(value)) : plistText(value) };
  const why = `Could not extract value, error: No value at that key path or invalid key path: ${keyPath}`;
  return { ...row, source: missing, stderr: lines(`${preferencesPath}: ${why}`), exitCode: 1 };
}

function rows({ mac }: View): readonly Row[] {
  const bridge =
    valueAt(mac.preferences, ['VirtualNetworkInterfaces', 'Bridge', 'bridge0']) === undefined ? deleted : present;
  return [
    extractRow(mac, 'VirtualNetworkInterfaces.Bridge', bridge),
    extractRow(mac, 'NetworkServices', services),
    extractRow(mac, 'NetworkServices', inXml, 'xml1'),
    extractRow(mac, 'System', names),
  ];
}

/** `plutil -extract` of bridges and services in the network preferences: of the file itself, whoever wrote it. */
export const plutil: Tool = {
  path: '/usr/bin/plutil',
  rows,
  writes: [
    {
      form: `-insert KEYPATH -json JSON ${preferencesPath}`,
      source: unconfirmed(
        'plutil -insert KEYPATH -json VALUE puts a dictionary into the network preferences, and refuses a key that is there',
      ),
      change: insert,
    },
  ],
  usage: unconfirmedUsage('plutil', 1, 'plutil: [command_option] [other_options] file...', "The file '-' means stdin"),
};
