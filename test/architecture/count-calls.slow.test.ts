import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('only a few calls lead from the apply command to the script that makes a change', () => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '-s', 'count-calls'], { encoding: 'utf8' });
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^\d+ calls in \d+ files/m);
});
