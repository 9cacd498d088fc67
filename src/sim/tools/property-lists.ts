import { parsedJson } from '../../model/digest.ts';
import type { NodePath } from '../../model/probe.ts';
import type { MacState } from '../model/fleet.ts';
import { bridgeIn, preferencesPath } from '../model/network.ts';
import { dictAt, isDict, type PlistDict, type PlistValue, plistText, valueAt, withValue } from '../model/plist.ts';
import {
  from,
  lines,
  type Row,
  row,
  type Source,
  type Tool,
  type ToolChange,
  unconfirmedUsage,
  usage,
  type WriteResult,
  type WriteView,
} from './tool.ts';

const stamp = '2026-11-20 09:41:00.000 defaults[4711:98765] ';

/** The value of `-bool true` or `-string ana`; undefined for other types. */
function typedValue(type: string | undefined, word: string): PlistValue | undefined {
  if (type === '-string') return word;
  if (/^(?:true|yes)$/i.test(word)) return true;
  return /^(?:false|no)$/i.test(word) ? false : undefined;
}

function setDomain({ mac, isRoot }: WriteView, domain: string, dict: PlistDict): WriteResult {
  if (!isRoot) return { stderr: lines(`${stamp}Could not write domain ${domain}; exiting`), exitCode: 1 };
  return { after: { domains: { ...mac.domains, [domain]: dict } } };
}

const writeKey: ToolChange = (view) => {
  const [domain = '', key = '', type, word = ''] = view.words;
  const dict = view.mac.domains[domain];
  const value = typedValue(type, word);
  return dict === undefined || value === undefined ? undefined : setDomain(view, domain, { ...dict, [key]: value });
};

const deleteKey: ToolChange = (view) => {
  const [domain = '', key = ''] = view.words;
  const dict = view.mac.domains[domain];
  if (dict === undefined) return undefined;
  if (view.isRoot && !Object.hasOwn(dict, key)) {
    return { stderr: lines(stamp, `Domain (${domain}) not found.`, 'Defaults have not been changed.'), exitCode: 1 };
  }
  return setDomain(view, domain, Object.fromEntries(Object.entries(dict).filter(([one]) => one !== key)));
};

const manual = from.apple('defaults(1): read, write, delete; a domain may be a path without .plist');
const typed = from.apple('defaults(1): write DOMAIN KEY -bool | -string VALUE');
const unset = from.published(
  'the message for an unset key, after a line with the time, quoted in many public issues; exit 1',
);
const unwritten = from.published('"Could not write domain …; exiting" with exit 1, in many public issues');

const path = (domain: string): NodePath => ({ kind: 'node-path', path: domain });

/** Flags are printed as numbers. */
const shownValue = (value: PlistValue): string => String(typeof value === 'boolean' ? Number(value) : value);

/** `defaults` for machine-wide preference domains, by path. */
export const defaults: Tool = {
  path: '/usr/bin/defaults',
  rows: ({ mac }) =>
    Object.entries(mac.domains).flatMap(([domain, dict]) =>
      Object.entries(dict).map(([key, value]) => row(['read', path(domain), key], manual, lines(shownValue(value)))),
    ),
  patterns: [
    // All other keys in these domains are unset.
    {
      match: `"3:read $r/Library/Preferences/com.apple."*`,
      body: `printf '${stamp}\\nThe domain/default pair of (%s, %s) does not exist\\n' "$2" "$3" >&2; exit 1`,
      source: unset,
    },
  ],
  writes: [
    { form: 'write DOMAIN KEY -bool|-string VALUE', source: typed, change: writeKey },
    { form: 'delete DOMAIN KEY', source: unwritten, change: deleteKey },
  ],
  usage: usage(
    255,
    from.unconfirmed("defaults' usage text and exit code 255"),
    "Command line interface to a user's defaults.",
    'Syntax:',
    "'defaults' [-currentHost | -host <hostname>] followed by one of the following:",
  ),
};

const deeper = '    ';

/** A value in the form of `Print`. */
function printed(value: PlistValue, indent = ''): string {
  if (typeof value !== 'object') return String(value);
  const inner = indent + deeper;
  if (isDict(value)) {
    const entries = Object.entries(value).map(([key, one]) => `${inner}${key} = ${printed(one, inner)}\n`);
    return `Dict {\n${entries.join('')}${indent}}`;
  }
  return `Array {\n${value.map((one) => `${inner}${printed(one, inner)}\n`).join('')}${indent}}`;
}

function without(dict: PlistDict, path: readonly string[]): PlistDict {
  const [parent, key = ''] = [path.slice(0, -1), path.at(-1)];
  const { [key]: _, ...others } = dictAt(dict, ...parent);
  return parent.length === 0 ? others : withValue(dict, parent, others);
}

/** Runs a command on an existing entry, with its value and path. */
const ofEntry =
  (verb: string, act: (view: WriteView, value: PlistValue, path: readonly string[]) => WriteResult): ToolChange =>
  (view) => {
    const [keys = ''] = view.words;
    if (keys === '') return undefined;
    const path = keys.split(':');
    const value = valueAt(view.mac.preferences, path);
    if (value === undefined) return { stderr: lines(`${verb}: Entry, ":${keys}", Does Not Exist`), exitCode: 1 };
    return act(view, value, path);
  };

/** `PlistBuddy -c` for the network preferences, as they are on the disk. The running network does not change. */
export const plistBuddy: Tool = {
  path: '/usr/libexec/PlistBuddy',
  writes: [
    {
      form: `-c 'Print :KEY...' ${preferencesPath}`,
      source: from.unconfirmed(
        'PlistBuddy prints a dictionary as "Dict {" and "key = value", indented by four spaces per level',
      ),
      change: ofEntry('Print', (_, value) => ({ stdout: lines(printed(value)) })),
    },
    {
      form: `-c 'Delete :KEY...' ${preferencesPath}`,
      source: from.apple('PlistBuddy(8); the message for a missing entry is quoted in many public scripts'),
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

/** `plutil -insert` changes only the file with the network preferences. The running network does not change. */
const insert: ToolChange = ({ mac, isRoot, words: [keyPath = '', json = ''] }) => {
  const value = parsedJson(json) as PlistValue | undefined;
  if (value === undefined) return undefined;
  const failed = (why: string): WriteResult => ({ stderr: lines(`${preferencesPath}: ${why}`), exitCode: 1 });
  if (!isRoot) return failed('Could not write file');
  const path = keyPath.split('.');
  const parent = valueAt(mac.preferences, path.slice(0, -1));
  const isFree = parent !== undefined && isDict(parent) && valueAt(parent, path.slice(-1)) === undefined;
  return isFree
    ? { after: { preferences: withValue(mac.preferences, path, value) } }
    : failed(`Could not modify plist, error: ${keyPath}`);
};

const preferences: NodePath = { kind: 'node-path', path: preferencesPath };
const publisher = 'test data of a two-Mac cluster tool';
const present = from.capture('plutil-virtualnetworkinterfaces-bridge.mbp.bridge-present.json', publisher);
const deleted = from.capture('plutil-virtualnetworkinterfaces-bridge.m3ultra.bridge-deleted.json', publisher);
const services = from.unconfirmed('plutil -extract NetworkServices json prints every service by UUID, on one line');
const inXml = from.unconfirmed('plutil -extract NetworkServices xml1 prints all services as a separate property list');
const names = from.unconfirmed(
  'plutil -extract System json prints computer name, Bonjour name and host name, on one line',
);
const inserted = from.unconfirmed(
  'plutil -insert KEYPATH -json VALUE inserts a dictionary into the network preferences, and fails if the key exists',
);
const missing = from.published('the message for a missing key, quoted in several public tests; exit 1');

/** plutil prints a dictionary's keys in its own order; the captured order is the reverse of the file's. */
function turned(value: PlistValue): unknown {
  if (typeof value !== 'object') return value;
  if (!isDict(value)) return value.map(turned);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, turned(one)]),
  );
}

/** Slashes are escaped, as always in Apple's JSON. */
const json = (value: PlistValue): string => JSON.stringify(turned(value)).replaceAll('/', String.raw`\/`);

function extractRow(mac: MacState, keyPath: string, source: Source, form: 'json' | 'xml1' = 'json'): Row {
  const value = valueAt(mac.preferences, keyPath.split('.'));
  const row = { args: ['-extract', keyPath, form, '-o', '-', preferences], ifUnchanged: preferences };
  if (value !== undefined) return { ...row, source, stdout: form === 'json' ? lines(json(value)) : plistText(value) };
  const why = `Could not extract value, error: No value at that key path or invalid key path: ${keyPath}`;
  return { ...row, source: missing, stderr: lines(`${preferencesPath}: ${why}`), exitCode: 1 };
}

/** `plutil -extract` for bridges and services in the network preferences, as they are on the disk. */
export const plutil: Tool = {
  path: '/usr/bin/plutil',
  rows: ({ mac }) => [
    extractRow(mac, 'VirtualNetworkInterfaces.Bridge', bridgeIn(mac.preferences) === undefined ? deleted : present),
    extractRow(mac, 'NetworkServices', services),
    extractRow(mac, 'NetworkServices', inXml, 'xml1'),
    extractRow(mac, 'System', names),
  ],
  writes: [{ form: `-insert KEYPATH -json JSON ${preferencesPath}`, source: inserted, change: insert }],
  usage: unconfirmedUsage('plutil', 1, 'plutil: [command_option] [other_options] file...', "The file '-' means stdin"),
};
