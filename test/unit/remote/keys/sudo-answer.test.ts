import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { diagnoseSudo as diagnoseSudoItself } from '../../../../src/remote/keys/password-login.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const diagnoseSudo = onPage(diagnoseSudoItself);

const exited = (code: number) => ({ kind: 'exited', code }) as const;

describe('the diagnostic for a sudo failure', () => {
  it('contains the exact line to add', () => {
    const problem = diagnoseSudo('studio-1', 'mesh', exited(1), 'sudo: a password is required\n');
    expect(problem).toMatchObject({ code: 'ssh/sudo-needs-password', subject: nodeSubject('studio-1') });
    expect(problem?.hint).toContain('mesh ALL=(root) NOPASSWD: /bin/sh -s');
    expect(diagnoseSudo('studio-1', 'mesh', exited(1), 'mesh is not in the sudoers file.')?.code).toBe(
      'ssh/sudo-denied',
    );
    expect(diagnoseSudo('studio-1', 'mesh', exited(0), '')).toBeUndefined();
  });

  it('names the terminal, not the password, for requiretty', () => {
    const problem = diagnoseSudo('studio-1', 'mesh', exited(1), 'sudo: sorry, you must have a tty to run sudo\n');
    expect(problem).toMatchObject({ code: 'ssh/sudo-needs-terminal' });
    expect(problem?.hint).toMatch(/\n {2}Defaults:mesh !requiretty$/u);
  });
});

it("diagnoseSudo quotes sudo's last line", () => {
  const stderr = 'lecture\nsudo: a password is required\n';
  expect(plainText(diagnoseSudo('studio-1', 'mesh', exited(1), stderr)?.detail ?? '')).toBe(
    'studio-1: sudo -n printed "sudo: a password is required" for mesh.',
  );
});

onOnePage('sudo-answer');
