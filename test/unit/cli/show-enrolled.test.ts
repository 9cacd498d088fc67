import { describe, expect, it } from 'vitest';
import { codeOfEnrolled } from '../../../src/cli/enroll/enroll.ts';
import type { Enrolled } from '../../../src/cli/enroll/enroll-one.ts';
import { exitCode } from '../../../src/cli/exit-codes.ts';

const refused: Enrolled = { label: 'studio-2', address: '192.0.2.12', user: 'mesh', pin: 'refused', diagnostics: [] };

describe('the exit code of enroll and replace', () => {
  it.each<readonly [string, Partial<Enrolled>, number]>([
    ['nothing was installed on the refused Mac', {}, exitCode.nothingChanged],
    ['the key was already installed', { installed: { key: 'kept', rule: 'kept' } }, exitCode.nothingChanged],
    ['a key was installed', { installed: { key: 'added' } }, exitCode.failed],
    ['the sudo rule was installed', { installed: { key: 'kept', rule: 'added' } }, exitCode.failed],
    [
      'the Mac was declined after a key was installed',
      { pin: 'declined', installed: { key: 'added' } },
      exitCode.failed,
    ],
  ])('is correct if %s', (_, changes, code) => {
    expect(codeOfEnrolled({ ...refused, ...changes })).toBe(code);
  });
});
