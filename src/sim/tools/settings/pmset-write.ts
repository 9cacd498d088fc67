import { withMac } from '../../model/fleet.ts';
import type { MacState } from '../../model/mac.ts';
import { apple, unconfirmed } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

const source = apple('pmset.m of PowerManagement: the settings, the words for who is not root (on stdout), exit 1');

const forms: readonly WriteForm[] = [
  { form: '-a KEY VALUE ...', match: "[3579]:'-a '*", source },
  {
    form: '-c KEY VALUE ...',
    match: "[3579]:'-c '*",
    source: unconfirmed('pmset -c on a Mac without a battery changes the same settings as -a'),
  },
];

type Power = MacState['power'];

/** The settings that can be changed here, with the value that the model has for it. */
const settings: Readonly<Record<string, (power: Power, value: number) => Power>> = {
  sleep: (power, value) => ({ ...power, sleepMinutes: value }),
  disksleep: (power, value) => ({ ...power, diskSleepMinutes: value }),
  autorestart: (power, value) => ({ ...power, restartsAfterPowerLoss: value !== 0 }),
};

const isSetting = (key: string, { model }: MacState): boolean =>
  Object.hasOwn(settings, key) && !(key === 'autorestart' && model.isLaptop);

/** The power settings after these words; undefined when one of them is unknown or no number. */
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

/** pmset.m warns when the disk may never sleep although the Mac does. */
const warning = ({ sleepMinutes, diskSleepMinutes }: Power): string =>
  sleepMinutes !== 0 && diskSleepMinutes === 0
    ? lines(
        'Warning: Idle sleep timings for "AC Power" may not behave as expected.',
        '- Disk sleep should be non-zero whenever system sleep is non-zero.',
      )
    : '';

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const power = changed(mac, args.slice(1));
  if (power === undefined) return undefined;
  if (!isRoot) return { fleet, stdout: lines("'/usr/bin/pmset' must be run as root..."), exitCode: 1 };
  return { fleet: withMac(fleet, mac.name, (one) => ({ ...one, power })), stderr: warning(power) };
}

/** `pmset -a` with sleep, disksleep and autorestart. */
export const pmsetWrites: Writes = { forms, write };
