import { stat, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../../../../rack/kept-running.ts';
import { bareNode } from '../bare-node.ts';

const node = shared(bareNode);
beforeAll(async () => {
  await writeFile(node.home('big'), 'x'.repeat(5_000));
  await writeFile(node.home('small'), 'x'.repeat(100));
  await node.sh('tar -czf big.tgz big; tar -czf small.tgz small');
  await node.setState('room', '2048\n');
});

const sizeOf = async (name: string): Promise<number> => (await stat(node.home(name))).size;

describe("a simulated node's full disk", () => {
  it.each([
    ['cp big copied', 'cp: copied: No space left on device'],
    ['cat big >joined', 'cat: stdout: No space left on device'],
    ['head -c 4000 big >cut', 'No space left on device'],
    ['tail -c 4000 big >rest', 'No space left on device'],
    ['cat big | tee teed >"$R/dev/null" 2>&1; cat big >>teed', 'No space left on device'],
    ['mkdir t; tar -xf big.tgz -C t', 'big: Write failed: No space left on device'],
  ])('makes this command fail: %s', async (script, complaint) => {
    const ran = await node.sh(`mkdir -p "$R/dev"; ${script}`);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain(complaint);
  });

  it('keeps the bytes that fit', async () => {
    await node.sh('cp big partly');
    expect(await sizeOf('partly')).toBe(2_048);
  });

  it('permits small files and data in pipes', async () => {
    const ran = await node.sh('cp small s1 && cat small >s2 && mkdir u && tar -xf small.tgz -C u && cat big | wc -c');
    expect(ran).toEqual({ code: 0, out: '    5000\n', err: '', unknown: '' });
    expect(await sizeOf('s1')).toBe(100);
  });
});
