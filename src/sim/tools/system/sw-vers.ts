import { apple, capture, lines, type Row, type TableTool, unconfirmed } from '../tool.ts';

const manual = apple('sw_vers(1)');
const whole = capture('sw_vers.macos27.txt', 'public Go test data, macOS 27.0');

/** `sw_vers`: name, version and build of macOS, alone or together. */
export const swVers: TableTool = {
  kind: 'table',
  path: '/usr/bin/sw_vers',
  rows: ({ mac: { macos } }) => {
    const single = (name: string, value: string): readonly Row[] =>
      ['-', '--'].map((dashes) => ({ args: [`${dashes}${name}`], source: manual, stdout: lines(value) }));
    return [
      {
        args: [],
        source: whole,
        stdout: lines(
          'ProductName:\t\tmacOS',
          `ProductVersion:\t\t${macos.version}`,
          `BuildVersion:\t\t${macos.build}`,
        ),
      },
      ...single('productName', 'macOS'),
      ...single('productVersion', macos.version),
      ...single('buildVersion', macos.build),
    ];
  },
  usage: {
    text: lines('Usage: sw_vers [--help|--productName|--productVersion|--productVersionExtra|--buildVersion]'),
    exitCode: 1,
    source: unconfirmed('sw_vers prints its usage on stderr and exits 1 for an unknown option'),
  },
};
