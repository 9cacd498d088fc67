import { describe, expect, it } from 'vitest';
import { isOpen, isZone } from '../../../../src/engine/playbooks/windows.ts';

const at = (text: string): number => Date.parse(text);
const berlin = { zone: 'Europe/Berlin' } as const;

describe('a window', () => {
  it('is open from its first minute until its end, in its time zone', () => {
    const window = { ...berlin, from: '09:00', to: '17:00' };
    const open = ['07:59', '08:00', '15:59', '16:00'].map((time) => isOpen([window], at(`2026-12-01T${time}:00Z`)));
    expect(open).toEqual([false, true, true, false]);
  });

  it('belongs to the day on which it begins, if it passes midnight', () => {
    const window = { ...berlin, days: ['sat'], from: '22:00', to: '06:00' };
    // 2026-12-05 is a Saturday.
    const times = ['2026-12-05T04:00Z', '2026-12-05T21:30Z', '2026-12-06T04:00Z', '2026-12-06T21:30Z'];
    expect(times.map((time) => isOpen([window], at(time)))).toEqual([false, true, true, false]);
  });

  it('may end at midnight', () => {
    const window = { zone: 'UTC', days: ['sun'], from: '00:00', to: '24:00' };
    const times = ['2026-12-05T23:59Z', '2026-12-06T00:00Z', '2026-12-06T23:59Z', '2026-12-07T00:00Z'];
    expect(times.map((time) => isOpen([window], at(time)))).toEqual([false, true, true, false]);
  });

  it('follows daylight saving time', () => {
    const window = { ...berlin, from: '03:00', to: '04:00' };
    // On 2026-03-29, 02:00 becomes 03:00 at 01:00 UTC.
    expect(isOpen([window], at('2026-03-28T02:30Z'))).toBe(true);
    expect(isOpen([window], at('2026-03-29T01:30Z'))).toBe(true);
    expect(isOpen([window], at('2026-03-29T02:30Z'))).toBe(false);
  });
});

describe('a play without windows', () => {
  it('may always begin', () => {
    expect(isOpen([], 0)).toBe(true);
  });
});

describe('a time zone', () => {
  it('has a name in the IANA database', () => {
    expect(['Europe/Berlin', 'UTC', 'Europe/Berln', ''].map(isZone)).toEqual([true, true, false, false]);
  });
});
