import type { MacState } from '../../model/mac.ts';
import { apple, capture, unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { pmsetWrites } from './pmset-write.ts';

type Setting = readonly [name: string, value: string | number];

const laptop = capture('pmset-g-custom.mbp.txt', 'public benchmark record, MacBook Pro');
const capable = capture('pmset-g-cap.desktop-intel.txt', 'public setup notes, Intel desktop');
const desktop = unconfirmed('pmset -g custom on a Mac Studio: which keys in which order');
const inUse = unconfirmed('pmset -g on Apple silicon: the head lines and the settings in use');

/** One setting: the name is filled up to 20 characters, and longer ones push their value on. */
const settingLine = ([name, value]: Setting): string => ` ${name.padEnd(20)} ${value}`;

const laptopCommon: readonly Setting[] = [
  ['Sleep On Power Button', 1],
  ['powermode', 0],
  ['standby', 1],
  ['ttyskeepawake', 1],
  ['hibernatemode', 3],
  ['powernap', 1],
  ['hibernatefile', '/var/vm/sleepimage'],
];

const battery: readonly Setting[] = [
  ...laptopCommon,
  ['displaysleep', 2],
  ['womp', 0],
  ['networkoversleep', 0],
  ['sleep', 1],
  ['lessbright', 1],
  ['tcpkeepalive', 1],
  ['disksleep', 10],
];

const laptopMains = ({ power }: MacState): readonly Setting[] => [
  ...laptopCommon,
  ['displaysleep', 10],
  ['womp', 1],
  ['networkoversleep', 0],
  ['sleep', power.sleepMinutes],
  ['tcpkeepalive', 1],
  ['disksleep', power.diskSleepMinutes],
];

const desktopMains = ({ power }: MacState): readonly Setting[] => [
  ['Sleep On Power Button', 1],
  ['autorestart', power.restartsAfterPowerLoss ? 1 : 0],
  ['powermode', 0],
  ['standby', 0],
  ['ttyskeepawake', 1],
  ['hibernatemode', 0],
  ['powernap', 1],
  ['hibernatefile', '/var/vm/sleepimage'],
  ['displaysleep', 10],
  ['womp', 1],
  ['networkoversleep', 0],
  ['sleep', power.sleepMinutes],
  ['tcpkeepalive', 1],
  ['disksleep', power.diskSleepMinutes],
];

const mains = (mac: MacState): readonly Setting[] => (mac.model.isLaptop ? laptopMains(mac) : desktopMains(mac));

const custom = (mac: MacState): string =>
  lines(
    ...(mac.model.isLaptop ? ['Battery Power:', ...battery.map(settingLine)] : []),
    'AC Power:',
    ...mains(mac).map(settingLine),
  );

/** What the Mac can do: `autorestart` is missing on laptops. */
const capabilities = (mac: MacState): readonly string[] => [
  'displaysleep',
  'disksleep',
  'sleep',
  'womp',
  ...(mac.model.isLaptop ? ['lessbright'] : ['autorestart']),
  'standby',
  'powernap',
  'ttyskeepawake',
  'hibernatemode',
  'hibernatefile',
  'tcpkeepalive',
  'powermode',
];

/** `pmset`: the reading forms, and `-a`. */
export const pmset: TableTool = {
  kind: 'table',
  path: '/usr/bin/pmset',
  rows: ({ mac }) => [
    { args: ['-g', 'custom'], source: mac.model.isLaptop ? laptop : desktop, stdout: custom(mac) },
    {
      args: ['-g', 'cap'],
      source: capable,
      stdout: lines('Capabilities for AC Power:', ...capabilities(mac).map((name) => ` ${name}`)),
    },
    {
      args: ['-g'],
      source: inUse,
      stdout: lines('System-wide power settings:', 'Currently in use:', ...mains(mac).map(settingLine)),
    },
  ],
  writes: pmsetWrites,
  usage: {
    text: lines('Usage: pmset <options>', "See pmset(1) for details: 'man pmset'"),
    exitCode: 1,
    source: apple('pmset.m of PowerManagement; there it goes to stdout'),
  },
};
