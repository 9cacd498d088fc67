import { describe, expect, it } from 'vitest';
import { diagnoseExit, exitReasons } from '../../../src/remote/exit-reasons.ts';

const code = (reason: string) => diagnoseExit('studio-1', { kind: 'unknown', reason })?.code;

describe('an unknown exit', () => {
  it('is told apart by its reason', () => {
    expect(code(exitReasons.dropped('read ECONNRESET'))).toBe('ssh/dropped');
    expect(code(exitReasons.deadline(1_500))).toBe('ssh/timed-out');
    expect(code(exitReasons.tooLong(10))).toBe('ssh/exit-unknown');
    expect(code(exitReasons.noCode)).toBe('ssh/exit-unknown');
    expect(code(exitReasons.noChannel)).toBe('ssh/exit-unknown');
    expect(code('anything else')).toBe('ssh/exit-unknown');
  });

  it('says who and why', () => {
    expect(diagnoseExit('studio-1', { kind: 'unknown', reason: exitReasons.deadline(1_500) })).toMatchObject({
      subject: 'node studio-1',
      detail: 'studio-1: the command did not end within 1.5 s.',
    });
  });
});

describe('a known exit', () => {
  it('is no problem of the connection', () => {
    expect(diagnoseExit('studio-1', { kind: 'exited', code: 255 })).toBeUndefined();
    expect(diagnoseExit('studio-1', { kind: 'signalled', signal: 'KILL' })).toBeUndefined();
  });
});
