import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type DoubledProgram, writeDouble } from '../../../../src/sim/doubles/doubles.ts';
import { llamaFleet } from '../../../rack/placements.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const folder = temporaryFolder();

it('the double of a different llama.cpp release has different bytes, so plans show the change', async () => {
  const [runtime] = llamaFleet().runtimes as [DoubledProgram];
  const digestOf = async (url: string, at: number): Promise<string> =>
    (await writeDouble({ ...runtime, release: { url, from: url } }, join(folder.path, `llama-${at}.tar.gz`))).sha256;
  const digests = await Promise.all(['https://x/b1', 'https://x/b2', 'https://x/b1'].map(digestOf));
  expect([digests[0] === digests[1], digests[0]]).toEqual([false, digests[2]]);
});
