import { afterEach, describe, expect, it } from 'vitest';
import { sampleOf } from '../sample.ts';
import { ended, expectGolden, type Ran, start, startMerged } from './meshwright.ts';
import { makePlace, type Place, processesOf, temporaryFiles } from './place.ts';
import { withoutProgress } from './placeholders.ts';

const longestMs = 120_000;

let place: Place | undefined;
afterEach(() => place?.remove());

/** Waits until a program has printed this text. */
function printed(stream: NodeJS.ReadableStream | null, text: string): Promise<void> {
  let all = '';
  return new Promise((resolve) => {
    stream?.on('data', (chunk: Buffer) => {
      all += chunk.toString();
      if (all.includes(text)) resolve();
    });
  });
}

const clock = /^\d\d:\d\d:\d\d /;

/** Joins the wrapped parts of lines that begin with the time. */
function unbroken(lines: readonly string[]): readonly string[] {
  const whole: string[] = [];
  for (const line of lines) {
    const before = whole.at(-1);
    const isRest = before !== undefined && clock.test(before) && line.startsWith(' '.repeat('06:12:40 '.length));
    if (isRest) whole[whole.length - 1] = `${before} ${line.trim()}`;
    else whole.push(line);
  }
  return whole;
}

/**
 * The output without values that depend on the computer: digests and sizes (zlib), and the order, duration and progress
 * of steps (speed).
 */
function settled(ran: Ran): Ran {
  const sorted: string[] = [];
  let parallel: string[] = [];
  for (const line of unbroken(withoutProgress(ran.stdout).split('\n'))) {
    if (clock.test(line)) {
      const timeless = line.replace(clock, 'HH:MM:SS ').replace(/ (?:[\d.]+ m?s|\d+:\d\d)$/, ' TIME');
      if (!/ \d+ % /.test(timeless)) parallel.push(timeless);
      continue;
    }
    sorted.push(...parallel.sort(), line);
    parallel = [];
  }
  const stdout = sorted
    .join('\n')
    .replace(/(?<=version )[0-9a-f]{16}/g, 'DIGEST')
    .replace(/(?<=sha256 )[0-9a-f]{16}, .*/g, 'DIGEST, SIZE')
    .replace(/(?<=commit )[0-9a-f]{12}/g, 'COMMIT')
    // A rate is shown only after some tokens.
    .replace(/(?<=^ {4})(?:[\d.]+ tokens\/s {3})?first token \d+ ms$/gm, 'first token TIME')
    .replace(/(?<=on studio-1) {3}[\d.]+ tokens\/s$/gm, '')
    .replace(/(?<=panic-full-)[\d-]+\.\d+/g, 'TIME')
    .replace(/since [\d-]+\n? *[\d:]+ UTC; [0-9A-F-]{36}/g, 'since TIME; BOOT SESSION')
    .replace(/^[0-9a-f]{64}$/gm, 'ANSWER');
  return { ...ran, stdout };
}

const interruptions = [
  ['SIGINT', 130, '$ meshwright sim up'],
  ['SIGTERM', 143, ' changed ('],
  ['SIGINT', 130, '$ meshwright ask'],
] as const;

describe('demo', () => {
  it('shows every command in 80 columns without a terminal, and leaves nothing behind', async () => {
    place = makePlace();
    const ran = await ended(startMerged(place, ['demo']), ['demo', '2>&1'], longestMs);
    expect({ code: ran.code, end: ran.stdout.slice(-400) }).toMatchObject({ code: 0 });
    expect(ran.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect([processesOf(place), temporaryFiles(place)]).toEqual([[], []]);
    const answers = ran.stdout.match(/^[0-9a-f]{64}$/gm) ?? [];
    expect([answers.length, new Set(answers).size]).toEqual([2, 1]);
    await expectGolden('demo', place, [settled(ran)]);
  }, 180_000);

  it.each(sampleOf(interruptions, { few: 1, oneIn: 3 }))(
    'handles %s with exit code %d after "%s", and leaves nothing behind',
    async (signal, code, after) => {
      place = makePlace();
      const child = start(place, ['demo']);
      const run = ended(child, ['demo'], longestMs);
      await printed(child.stdout, after);
      child.kill(signal);
      const ran = await run;
      expect([ran.code, ran.stderr.split('\n').filter((line) => line.includes('    at '))]).toEqual([code, []]);
      expect([processesOf(place), temporaryFiles(place)]).toEqual([[], []]);
    },
    180_000,
  );
});
