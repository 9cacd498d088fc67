import { afterEach, describe, expect, it } from 'vitest';
import { ended, expectGolden, start, startMerged, widest } from './meshwright.ts';
import { makePlace, type Place, processesOf, temporaryFiles } from './place.ts';

let place: Place | undefined;
afterEach(() => place?.remove());

/** Waits until the output of a program has this text. */
function said(stream: NodeJS.ReadableStream | null, text: string): Promise<void> {
  let all = '';
  return new Promise((resolve) => {
    stream?.on('data', (chunk: Buffer) => {
      all += chunk.toString();
      if (all.includes(text)) resolve();
    });
  });
}

describe('demo', () => {
  it('shows everything in order, without a terminal, in 80 columns, ends with 0 and leaves nothing behind', async () => {
    place = makePlace();
    const ran = await ended(startMerged(place, ['demo']), ['demo', '2>&1']);
    expect(ran.code).toBe(0);
    // A command to copy stays in one piece, whatever the width.
    expect(widest(ran.stdout.replaceAll(/^ +sudo .*$/gm, ''))).toBeLessThanOrEqual(80);
    expect([processesOf(place), temporaryFiles(place)]).toEqual([[], []]);
    await expectGolden('demo', place, [ran]);
  });

  it.each([
    ['SIGINT', 130, '$ meshwright sim up'],
    ['SIGTERM', 143, '$ meshwright facts'],
  ] as const)('ends with %s as %d after "%s", and leaves nothing behind', async (signal, code, after) => {
    place = makePlace();
    const child = start(place, ['demo']);
    const run = ended(child, ['demo']);
    await said(child.stdout, after);
    child.kill(signal);
    const ran = await run;
    expect([ran.code, ran.stderr.split('\n').filter((line) => line.includes('    at '))]).toEqual([code, []]);
    expect([processesOf(place), temporaryFiles(place)]).toEqual([[], []]);
  });
});
