import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findSshd } from './start-sshd.ts';

it('sshd is looked up in the absolute folders of PATH before the usual folders', () => {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-find-sshd-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const sshd = join(folder, 'sshd');
  writeFileSync(sshd, '');
  expect(findSshd(['/bin/none', folder].join(delimiter))).toBe(sshd);
  expect(findSshd(relative('.', folder))).toBe(findSshd('/bin/none'));
});
