import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('a reader finds the script of a change within a few calls from the command apply', () => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '-s', 'count-calls'], { encoding: 'utf8' });
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^\d+ calls in \d+ files/m);
});
