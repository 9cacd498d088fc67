import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/model/probe.ts';
import { parseFrames } from '../../src/node/frames.ts';
import { boundary, probesFor, type Ran, rightAnswer, stream } from '../unit/node/frame-stream.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom('', '\n', `\n${'0'.repeat(32)} end\n`, '       3 1.o\n', `${boundary.slice(0, 31)} 1 out\n`),
);
const ran: fc.Arbitrary<Ran> = fc.record({
  code: fc.integer({ min: 0, max: 128 }).map(String),
  isLate: fc.boolean(),
  stdout: text,
  stderr: text,
});
const runs = fc.array(ran, { minLength: 1, maxLength: 5 });

/** Asserts that each answer is right or missing; returns the number of right ones. */
function countRight(answers: readonly Answer[], all: readonly Ran[]): number {
  expect(answers).toHaveLength(all.length);
  for (const [at, answer] of answers.entries()) {
    if (answer.missing === undefined) expect(answer).toEqual(rightAnswer(all[at] ?? {}, at));
  }
  return answers.filter(({ missing }) => missing === undefined).length;
}

const parse = (output: Uint8Array, all: readonly Ran[]) => parseFrames(output, { probes: probesFor(all), boundary });

describe('observation frames', () => {
  it('contain exactly the output of the probes', () => {
    fc.assert(
      fc.property(runs, (all) => {
        expect(countRight(parse(stream(all), all), all)).toBe(all.length);
      }),
    );
  });

  it('yield only correct or missing probe output after truncation at any byte', () => {
    fc.assert(
      fc.property(runs, (all) => {
        const whole = stream(all);
        let before = 0;
        for (let length = 0; length <= whole.length; length += 1) {
          const right = countRight(parse(whole.subarray(0, length), all), all);
          expect(right).toBeGreaterThanOrEqual(before);
          before = right;
        }
        expect(before).toBe(all.length);
      }),
      { numRuns: 8 },
    );
  });

  it('yield only correct or missing probe output after any bytes are lost', () => {
    fc.assert(
      fc.property(runs, fc.nat(), fc.integer({ min: 1, max: 80 }), (all, place, length) => {
        const whole = stream(all);
        const at = place % whole.length;
        const rest = Buffer.concat([whole.subarray(0, at), whole.subarray(at + length)]);
        // Only a lost byte in an exit code or a late mark cannot be detected, because the shell prints those lines.
        for (const answer of parse(rest, all)) {
          const own = all[Number(answer.probe.slice('probe-'.length)) - 1];
          if (answer.missing === undefined) expect(answer.stdout).toBe(own?.stdout);
        }
      }),
    );
  });

  it('are unchanged by noise before and after them', () => {
    const noise = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(runs, noise, noise, (all, before, after) => {
        const output = Buffer.concat([before, stream(all), after]);
        expect(countRight(parse(output, all), all)).toBe(all.length);
      }),
    );
  });

  it('yield no probe output and no exception for random bytes', () => {
    const line = fc.constantFrom(
      `\n${boundary} begin 1 2\n`,
      `${boundary} sizes\n`,
      `\n${boundary} 1 out\n`,
      `\n${boundary} end\n`,
    );
    const piece = fc.oneof(
      line.map((one) => Buffer.from(one)),
      fc.uint8Array({ maxLength: 40 }).map((one) => Buffer.from(one)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const answers = parse(Buffer.concat(pieces), [{}, {}]);
        expect(answers.map(({ missing }) => missing)).not.toContain(undefined);
      }),
    );
  });
});
