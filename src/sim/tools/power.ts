import type { MacState } from '../model/fleet.ts';
import { from, lines, row, type Tool, type ToolChange, usage } from './tool.ts';

const source = from.apple('shutdown.c of system_cmds: "Shutdown NOW!", two bells, and "NOT super-user" with exit 1');

const goDown =
  (power: 'restart' | 'off'): ToolChange =>
  ({ isRoot }) =>
    isRoot
      ? { stdout: 'Shutdown NOW!\n\r\nSystem shutdown time has arrived\u0007\u0007\r\n', power }
      : { stderr: lines('shutdown: NOT super-user'), exitCode: 1 };

/** `shutdown -r now` and `-h now` return immediately; the Mac goes down afterwards. */
export const shutdown: Tool = {
  path: '/sbin/shutdown',
  writes: [
    { form: '-r now', source, change: goDown('restart') },
    { form: '-h now', source, change: goDown('off') },
  ],
  usage: usage(
    1,
    from.apple('shutdown.c of system_cmds'),
    'usage: shutdown [-] [-h | -r | -s | -k] [-o [-n]] [-q] time [warning-message ...]',
  ),
};

type Power = MacState['power'];

const settings: Readonly<Record<string, (power: Power, value: number) => Power>> = {
  sleep: (power, value) => ({ ...power, sleepMinutes: value }),
  disksleep: (power, value) => ({ ...power, diskSleepMinutes: value }),
  autorestart: (power, value) => ({ ...power, restartsAfterPowerLoss: value !== 0 }),
};

const isSetting = (key: string, { model }: MacState): boolean =>
  Object.hasOwn(settings, key) && !(key === 'autorestart' && model.isLaptop);

/** The power settings after these arguments; undefined if a name is unknown or a value is not a number. */
function changed(mac: MacState, words: readonly string[]): Power | undefined {
  let power = mac.power;
  for (let at = 0; at < words.length; at += 2) {
    const [key = '', value = ''] = words.slice(at, at + 2);
    const change = isSetting(key, mac) ? settings[key] : undefined;
    if (change === undefined || !/^\d{1,6}$/.test(value)) return undefined;
    power = change(power, Number(value));
  }
  return power;
}

/** pmset.m warns if the disk never sleeps although the Mac does. */
const warning = ({ sleepMinutes, diskSleepMinutes }: Power): string =>
  sleepMinutes !== 0 && diskSleepMinutes === 0
    ? lines(
        'Warning: Idle sleep timings for "AC Power" may not behave as expected.',
        '- Disk sleep should be non-zero whenever system sleep is non-zero.',
      )
    : '';

const setPower: ToolChange = ({ mac, isRoot, words }) => {
  const power = changed(mac, words);
  if (power === undefined) return undefined;
  return isRoot
    ? { after: { power }, stderr: warning(power) }
    : { stdout: lines("'/usr/bin/pmset' must be run as root..."), exitCode: 1 };
};

type Setting = readonly [name: string, value: string | number];

const laptop = from.capture('pmset-g-custom.mbp.txt', 'public benchmark record, MacBook Pro');
const capable = from.capture('pmset-g-cap.desktop-intel.txt', 'public setup notes, Intel desktop');
const desktop = from.unconfirmed('pmset -g custom on a Mac Studio: the keys and their order');
const forAll = from.apple(
  'pmset.m of PowerManagement: the settings, the message for users without root (on stdout), exit 1',
);
const forCharger = from.unconfirmed('pmset -c on a Mac without a battery changes the same settings as -a');
const inUse = from.unconfirmed('pmset -g on Apple silicon: the first lines and the settings in use');

/** One setting: the name is padded to 20 characters; longer names shift their value to the right. */
const settingLine = ([name, value]: Setting): string => ` ${name.padEnd(20)} ${value}`;

const common = ({ model: { isLaptop }, power }: MacState): readonly Setting[] => [
  ['Sleep On Power Button', 1],
  ...(isLaptop ? [] : [['autorestart', power.restartsAfterPowerLoss ? 1 : 0] as const]),
  ['powermode', 0],
  ['standby', isLaptop ? 1 : 0],
  ['ttyskeepawake', 1],
  ['hibernatemode', isLaptop ? 3 : 0],
  ['powernap', 1],
  ['hibernatefile', '/var/vm/sleepimage'],
];

const battery = (mac: MacState): readonly Setting[] => [
  ...common(mac),
  ['displaysleep', 2],
  ['womp', 0],
  ['networkoversleep', 0],
  ['sleep', 1],
  ['lessbright', 1],
  ['tcpkeepalive', 1],
  ['disksleep', 10],
];

const mains = (mac: MacState): readonly Setting[] => [
  ...common(mac),
  ['displaysleep', 10],
  ['womp', 1],
  ['networkoversleep', 0],
  ['sleep', mac.power.sleepMinutes],
  ['tcpkeepalive', 1],
  ['disksleep', mac.power.diskSleepMinutes],
];

const custom = (mac: MacState): string =>
  lines(
    ...(mac.model.isLaptop ? ['Battery Power:', ...battery(mac).map(settingLine)] : []),
    'AC Power:',
    ...mains(mac).map(settingLine),
  );

/** The Mac's capabilities; laptops lack `autorestart`. */
const capabilities = ({ model }: MacState): readonly string[] => [
  ...['displaysleep', 'disksleep', 'sleep', 'womp', model.isLaptop ? 'lessbright' : 'autorestart'],
  ...'standby powernap ttyskeepawake hibernatemode hibernatefile tcpkeepalive powermode'.split(' '),
];

export const pmset: Tool = {
  path: '/usr/bin/pmset',
  rows: ({ mac }) => [
    row(['-g', 'custom'], mac.model.isLaptop ? laptop : desktop, custom(mac)),
    row(['-g', 'cap'], capable, lines('Capabilities for AC Power:', ...capabilities(mac).map((name) => ` ${name}`))),
    row(['-g'], inUse, lines('System-wide power settings:', 'Currently in use:', ...mains(mac).map(settingLine))),
  ],
  writes: [
    { form: '-a KEY VALUE ...', match: "[3579]:'-a '*", source: forAll, change: setPower },
    { form: '-c KEY VALUE ...', match: "[3579]:'-c '*", source: forCharger, change: setPower },
  ],
  usage: usage(
    1,
    from.apple('pmset.m of PowerManagement, which prints it on stdout'),
    'Usage: pmset <options>',
    "See pmset(1) for details: 'man pmset'",
  ),
};
