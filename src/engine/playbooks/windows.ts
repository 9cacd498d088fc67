import type { Window } from './playbook.ts';

const dayNames: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** The day of the week and the minute of the day in a time zone. */
function clockIn(zone: string, epochMs: number): { readonly day: number; readonly minute: number } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const parts = format.formatToParts(epochMs);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  const day = dayNames.indexOf(part('weekday').toLowerCase());
  return { day, minute: Number(part('hour')) * 60 + Number(part('minute')) };
}

/** True during one of these windows, and if there are none. */
export const isOpen = (windows: readonly Window[], epochMs: number): boolean =>
  windows.length === 0 || windows.some((one) => isIn(one, epochMs));

function isIn({ days = dayNames, from, to, zone }: Window, epochMs: number): boolean {
  const { day, minute } = clockIn(zone, epochMs);
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  const isOn = (at: number): boolean => days.some((name) => name === dayNames[(at + 7) % 7]);
  if (begin < end) return isOn(day) && minute >= begin && minute < end;
  return (isOn(day) && minute >= begin) || (isOn(day - 1) && minute < end);
}

/** `mon, tue 22:00 to 06:00 (Europe/Berlin)` */
export const windowText = ({ days, from, to, zone }: Window): string =>
  `${days === undefined ? 'every day' : days.join(', ')} ${from} to ${to} (${zone})`;

/** True if this computer knows the time zone. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
