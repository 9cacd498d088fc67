import { describe, expect, it } from 'vitest';
import { classifySudo } from '../../../src/node/sudo-answer.ts';

const exited = (code: number) => ({ kind: 'exited', code }) as const;

describe('classifySudo', () => {
  it.each([
    ['allowed', 0, ''],
    ['allowed', 0, 'sudo: unable to resolve host studio-1'],
    ['needs-password', 1, 'sudo: a password is required\n'],
    ['needs-password', 1, 'noise of a shell\nsudo: a password is required\n'],
    [
      'needs-password',
      1,
      'sudo: a terminal is required to read the password; either use the -S option\nsudo: a password is required\n',
    ],
    ['denied', 1, 'mesh is not in the sudoers file.\nThis incident has been reported to the administrator.\n'],
    ['denied', 1, "Sorry, user mesh is not allowed to execute '/bin/sh -s' as root on studio-1.\n"],
    ['denied', 1, 'Sorry, user mesh may not run sudo on studio-1.\n'],
    ['denied', 1, 'sudo: mesh is not allowed to run sudo on studio-1.\n'],
    ['needs-terminal', 1, 'sudo: sorry, you must have a tty to run sudo\n'],
    ['broken', 1, 'sudo: unable to initialize policy plugin\n'],
    ['broken', 1, 'sudo: /etc/sudoers is owned by uid 501, must be owned by uid 0\n'],
    ['other', 2, 'sudo: a password is required\n'],
    ['other', 1, 'grep: no such pattern\n'],
    ['other', 127, 'sh: sudo: not found\n'],
    ['other', 2, ''],
  ] as const)('returns %s for exit code %d and %j', (answer, code, stderr) => {
    expect(classifySudo(exited(code), stderr)).toBe(answer);
  });

  it('returns other if the exit status is unknown', () => {
    expect(classifySudo({ kind: 'unknown', reason: 'dropped' }, 'sudo: a password is required')).toBe('other');
  });
});
