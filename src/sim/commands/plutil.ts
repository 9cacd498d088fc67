import type { NodePath } from '../../model/node-path.ts';
import type { MacState } from '../mac.ts';
import { capture, published, unconfirmed } from './source.ts';
import { lines, type Row, type TableTool } from './tool.ts';

/** The network preferences of macOS. */
export const preferencesPath = '/Library/Preferences/SystemConfiguration/preferences.plist';

const preferences: NodePath = { kind: 'node-path', path: preferencesPath };
const keyPath = 'VirtualNetworkInterfaces.Bridge';
const publisher = 'test data of a two-Mac cluster tool';
const present = capture('plutil-virtualnetworkinterfaces-bridge.mbp.bridge-present.json', publisher);
const deleted = capture('plutil-virtualnetworkinterfaces-bridge.m3ultra.bridge-deleted.json', publisher);

/** The bridges of the preferences, keys in the captured order. */
function bridgeRow(mac: MacState): Row {
  const args = ['-extract', keyPath, 'json', '-o', '-', preferences];
  switch (mac.bridge.preferences) {
    case 'listed': {
      const bridge0 = {
        Options: { __AUTO__: 'thunderbolt-bridge' },
        Interfaces: mac.receptacles.map(({ device }) => device),
      };
      return { args, source: present, stdout: lines(JSON.stringify({ bridge0 })) };
    }
    case 'emptied':
      return { args, source: deleted, stdout: lines('{}') };
    case 'never-written':
      return {
        args,
        source: published('the message for a missing key, quoted in several public tests; exit 1'),
        stderr: lines(
          `${preferencesPath}: Could not extract value, error: No value at that key path or invalid key path: ${keyPath}`,
        ),
        exitCode: 1,
      };
  }
}

/** `plutil -extract` of the bridges in the network preferences. */
export const plutil: TableTool = {
  kind: 'table',
  path: '/usr/bin/plutil',
  rows: ({ mac }) => [bridgeRow(mac)],
  usage: {
    text: lines('plutil: [command_option] [other_options] file...', "The file '-' means stdin"),
    exitCode: 1,
    source: unconfirmed("plutil's usage text and exit code 1"),
  },
};
