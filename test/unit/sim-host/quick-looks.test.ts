import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseTools } from '../../../src/sim/host/base-tools/all-base-tools.ts';
import { quickLooksPath } from '../../../src/sim/host/base-tools/plain.ts';
import { wrapperText } from '../../../src/sim/host/base-tools/wrapper.ts';

let root = '';
/** The sleep of a Mac, which tells how long it would sleep. */
let sleep = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mw-looks-'));
  sleep = join(root, 'bin/sleep');
  const tool = baseTools.find(({ path }) => path === '/bin/sleep');
  if (tool === undefined) throw new Error('there is no sleep');
  await mkdir(dirname(sleep));
  await mkdir(join(root, '.sim'));
  await writeFile(sleep, wrapperText(tool, { host: '/bin/echo', isBsd: false, user: 'mesh' }));
  await chmod(sleep, 0o755);
});
afterAll(() => rm(root, { recursive: true, force: true }));

const slept = (seconds: string): string => execFileSync(sleep, [seconds], { encoding: 'utf8' }).trim();

const asked = ['0.02', '0.1', '0.2', '0.25', '0.5', '1', '5', '20.25', '179.25'];

describe('the pause between two looks', () => {
  it('is as long as on a Mac where the clock is', () => {
    expect(asked.map(slept)).toEqual(asked);
  });

  it('is a tenth of a second where the clock is quick, and no longer pause is cut short', async () => {
    await writeFile(join(root, quickLooksPath), '');
    expect(asked.map(slept)).toEqual(['0.02', '0.1', '0.1', '0.1', '0.5', '1', '5', '20.25', '179.25']);
  });
});
