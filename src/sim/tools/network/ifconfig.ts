import { capture, modelled, published, unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { allInterfaces } from './ifconfig-blocks.ts';
import { ifconfigWrites } from './ifconfig-write.ts';

const all = modelled(
  'ifconfig-a.m3ultra.en7-own-address.modelled.txt',
  'test data of a two-Mac cluster tool, Mac Studio M3 Ultra',
);
const bridge = capture('ifconfig-bridge0.m4pro-mini.tn3205-elided.txt', 'Apple TN3205');
const single = capture('ifconfig-en2.tn3205.txt', 'Apple TN3205');

/** `ifconfig -a`, `ifconfig -l` and `ifconfig NAME`, and what changes the bridge and addresses. */
export const ifconfig: TableTool = {
  kind: 'table',
  path: '/sbin/ifconfig',
  rows: (view) => {
    const interfaces = allInterfaces(view);
    return [
      { args: ['-a'], source: all, stdout: interfaces.map(({ text }) => text).join('') },
      {
        args: ['-l'],
        source: unconfirmed('ifconfig -l prints all names in one line'),
        stdout: lines(interfaces.map(({ name }) => name).join(' ')),
      },
      ...interfaces.map(({ name, text }) => ({
        args: [name],
        source: name === 'bridge0' ? bridge : single,
        stdout: text,
      })),
    ];
  },
  patterns: [
    {
      match: '1:en[0-9] | 1:en[0-9][0-9] | 1:bridge[0-9] | 1:utun[0-9]',
      body: 'printf \'ifconfig: interface %s does not exist\\n\' "$1" >&2; exit 1',
      source: published('ifconfig of an interface that does not exist: exit 1'),
    },
  ],
  writes: ifconfigWrites,
  usage: {
    text: lines(
      'usage: ifconfig interface address_family [address [dest_address]]',
      '                [parameters]',
      '       ifconfig interface create',
      '       ifconfig -a [-L] [-m] [-r] [-v] [-z] [address_family]',
      '       ifconfig -l [address_family]',
      '       ifconfig [-L] [-m] [-r] [-v] [-z] interface',
    ),
    exitCode: 1,
    source: unconfirmed("ifconfig's usage text and exit code 1"),
  },
};
