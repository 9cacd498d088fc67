import type { NodePath } from '../../../model/node-path.ts';
import { type MacState, withMac } from '../../model/fleet.ts';
import { preferencesPath } from '../../model/network-preferences.ts';
import { isDict, type PlistDict, type PlistValue, plistText } from '../../model/plist.ts';
import {
  capture,
  lines,
  published,
  type Row,
  type Source,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
} from '../tool.ts';

/** The one form that changes a file. */
const plutilForms: readonly WriteForm[] = [
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
function insertByPlutil({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const [verb, keyPath = '', type, json = '', file] = args;
  const value = jsonValue(json);
  if (verb !== '-insert' || type !== '-json' || file !== preferencesPath || value === undefined) return undefined;
  const failed = (why: string): WriteResult => ({ fleet, stderr: lines(`${file}: ${why}`), exitCode: 1 });
  if (!isRoot) return failed('Could not write file');
  const preferences = inserted(mac.preferences, keyPath.split('.'), value);
  if (preferences === undefined) return failed(`Could not modify plist, error: ${keyPath}`);
  return { fleet: withMac(fleet, mac.name, (one) => ({ ...one, preferences })) };
}

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

const valueAt = (root: PlistValue, keyPath: string): PlistValue | undefined =>
  keyPath.split('.').reduce<PlistValue | undefined>((value, key) => {
    return value !== undefined && isDict(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, root);

function extractRow(mac: MacState, keyPath: string, source: Source, form: 'json' | 'xml1' = 'json'): Row {
  const value = valueAt(mac.preferences, keyPath);
  const row = { args: ['-extract', keyPath, form, '-o', '-', preferences], ifUnchanged: preferences };
  if (value !== undefined) return { ...row, source, stdout: form === 'json' ? lines(json(value)) : plistText(value) };
  const why = `Could not extract value, error: No value at that key path or invalid key path: ${keyPath}`;
  return { ...row, source: missing, stderr: lines(`${preferencesPath}: ${why}`), exitCode: 1 };
}

function rows({ mac }: View): readonly Row[] {
  const bridge = valueAt(mac.preferences, 'VirtualNetworkInterfaces.Bridge.bridge0') === undefined ? deleted : present;
  return [
    extractRow(mac, 'VirtualNetworkInterfaces.Bridge', bridge),
    extractRow(mac, 'NetworkServices', services),
    extractRow(mac, 'NetworkServices', inXml, 'xml1'),
    extractRow(mac, 'System', names),
  ];
}

/** What a row says, once the simulator has read the file as it is now. */
function reread(view: View, { args }: WriteCall): WriteResult | undefined {
  const isAsked = (row: Row): boolean =>
    row.args.length === args.length &&
    row.args.every((word, at) => (typeof word === 'string' ? word : word.path) === args[at]);
  const row = rows(view).find(isAsked);
  if (row === undefined) return undefined;
  const { stdout = '', stderr = '', exitCode = 0 } = row;
  return { fleet: view.fleet, stdout, stderr, exitCode };
}

/** `plutil -extract` of bridges and services in the network preferences: of the file itself, whoever wrote it. */
export const plutil: TableTool = {
  kind: 'table',
  path: '/usr/bin/plutil',
  rows,
  writes: { forms: plutilForms, write: (view, call) => insertByPlutil(view, call) ?? reread(view, call) },
  usage: {
    text: lines('plutil: [command_option] [other_options] file...', "The file '-' means stdin"),
    exitCode: 1,
    source: unconfirmed("plutil's usage text and exit code 1"),
  },
};
