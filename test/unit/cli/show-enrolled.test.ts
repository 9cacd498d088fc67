import { describe, expect, it } from 'vitest';
import { codeOfEnrolled } from '../../../src/cli/enroll/enroll.ts';
import type { Enrolled } from '../../../src/cli/enroll/enroll-one.ts';
import { exitCode } from '../../../src/cli/exit-codes.ts';

const refused: Enrolled = {
  label: 'studio-2',
  address: '192.0.2.12',
  user: 'mesh',
  pin: 'refused',
  isLocked: false,
  diagnostics: [],
};

describe('the exit code of enroll and replace', () => {
  it.each<readonly [string, Partial<Enrolled>, number]>([
    ['where nothing was put on the Mac that was refused', {}, exitCode.nothingChanged],
    ['where its key was there already', { installed: { key: 'kept', rule: 'kept' } }, exitCode.nothingChanged],
    ['where a key was put on it', { installed: { key: 'added' } }, exitCode.failed],
    ['where the rule of sudo was put on it', { installed: { key: 'kept', rule: 'added' } }, exitCode.failed],
    [
      'where somebody declined it after a key was put on it',
      { pin: 'declined', installed: { key: 'added' } },
      exitCode.failed,
    ],
  ])('is right %s', (_, changes, code) => {
    expect(codeOfEnrolled({ ...refused, ...changes })).toBe(code);
  });
});
