import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const isRequired = process.env['MESHWRIGHT_NATIVE'] === 'required';
const isHere = spawnSync('clang-tidy', ['--version']).status === 0;

it.skipIf(!isHere && !isRequired)('the native sources pass clang-tidy', () => {
  const { status, stdout } = spawnSync('npm', ['run', '-s', 'check:native'], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});
