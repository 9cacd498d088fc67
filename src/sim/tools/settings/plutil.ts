import type { NodePath } from '../../../model/node-path.ts';
import type { MacState } from '../../model/mac.ts';
import { preferencesPath } from '../../model/network-preferences.ts';
import { isDict, type PlistValue, plistText } from '../../model/plist.ts';
import { capture, published, type Source, unconfirmed } from '../source.ts';
import { lines, type Row, type TableTool, type View, type WriteCall, type WriteResult } from '../tool.ts';
import { insertByPlutil, plutilForms } from './plutil-write.ts';

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
