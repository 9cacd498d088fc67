import { beforeAll, describe, expect, it } from 'vitest';
import { allProbes, factsJson, parseFacts } from '../../src/engine/observe/facts.ts';
import type { Answer } from '../../src/model/probe.ts';
import { parseFrames } from '../../src/node/frames.ts';
import { printFrames, type Recording, recordFrames, saidBy } from '../hostile/recorded-frames.ts';
import { offsets } from '../sample.ts';
import { startExampleRack } from './observe-rack.ts';

const token = '0123456789abcdef0123456789abcdef';
const oldToken = 'fedcba9876543210fedcba9876543210';
/** The full run looks at every offset. */
const longMs = 240_000;
const probes = allProbes();
let recording: Recording;
let whole: readonly Answer[];

beforeAll(async () => {
  const rack = await startExampleRack();
  try {
    recording = await recordFrames(rack.way('studio-1'), token);
  } finally {
    await rack.stop();
  }
  whole = read(recording.bytes);
});

const read = (bytes: Buffer): readonly Answer[] => parseFrames(bytes, { probes, token });

/** Every fact is the right one or unknown; returns how many are known. */
function expectRightOrUnknown(answers: readonly Answer[]): number {
  const right = factsJson(parseFacts(whole, recording.asked));
  const facts = Object.entries(factsJson(parseFacts(answers, recording.asked)));
  for (const [name, fact] of facts) {
    if ('value' in fact) expect(fact).toEqual(right[name as keyof typeof right]);
  }
  return facts.filter(([, fact]) => 'value' in fact).length;
}

/** Which answers there are: the same as of the whole recording, or missing with a reason. */
function arrived(bytes: Buffer): string {
  return read(bytes)
    .map((answer, at) => answer.missing ?? (JSON.stringify(answer) === JSON.stringify(whole[at]) ? 'whole' : 'WRONG'))
    .join(' ');
}

describe('the recorded frames', () => {
  it('hold an answer to every probe', () => {
    expect(whole.filter(({ missing }) => missing !== undefined)).toEqual([]);
    expect(expectRightOrUnknown(whole)).toBe(Object.keys(parseFacts(whole, recording.asked)).length);
  });

  it('are what the description of the protocol says', () => {
    const printed = printFrames(token, saidBy(whole));
    const noTotal = (bytes: Buffer): string => bytes.toString('latin1').replace(/^ *\d+ total$/m, 'total');
    // Each wc has its own padding.
    const packed = (bytes: Buffer): string => noTotal(bytes).replaceAll(/^ +(?=\d+ \d+\.[oe]$)/gm, '');
    expect(packed(printed)).toBe(packed(recording.bytes));
  });
});

describe('a frame that is cut', () => {
  it('at any offset: every answer is whole or truncated, and every fact right or unknown', () => {
    const { bytes } = recording;
    const seen = new Map<string, number>();
    for (let length = 0; length <= bytes.length; length += 1) {
      const state = arrived(bytes.subarray(0, length));
      if (!seen.has(state)) seen.set(state, length);
    }
    expect([...seen.keys()].join(' ').split(' ')).not.toContain('WRONG');
    expect([...seen.keys()].join(' ').split(' ')).not.toContain('garbled');
    const known = [...seen.values()].map((length) => expectRightOrUnknown(read(bytes.subarray(0, length))));
    // The answers come one after another, so more and more is known.
    expect(known).toEqual([...known].sort((a, b) => a - b));
    expect(seen.size).toBe(probes.length + 1);
  });

  it('at its front, at any offset: nothing is believed without the beginning', { timeout: longMs }, () => {
    const { bytes } = recording;
    const start = bytes.indexOf(`${token} begin`);
    for (const from of offsets(bytes.length, { from: start + 1, oneIn: 7 })) {
      expect(read(bytes.subarray(from)).every(({ missing }) => missing !== undefined)).toBe(true);
    }
  });

  it('in the middle, at any offset and of any length: no answer is wrong', { timeout: longMs }, () => {
    const { bytes } = recording;
    for (const from of offsets(bytes.length, { oneIn: 11 })) {
      for (const length of [1, 2, 33, 1_000]) {
        const without = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + length)]);
        if (without.length < bytes.length) expectNothingWrong(without);
      }
    }
  });
});

function expectNothingWrong(bytes: Buffer): void {
  // A cut that takes a blank of the padding, or a whole zero of the exit lines, changes nothing that was said.
  if (arrived(bytes).includes('WRONG')) expectRightOrUnknown(read(bytes));
}

/** Pieces that a node, or what runs before and after the script, could put into the stream. */
const rubbish: readonly (readonly [what: string, text: string])[] = [
  ['a banner', 'Last login: today\nWelcome!\n'],
  ['another token', `\n${oldToken} begin 1 ${probes.length}\n${oldToken} 1 0 0\n`],
  ['an end of another token', `\n${oldToken} end\n`],
  ['a separator without a token', '\n 1 out\n'],
  ['control characters', '\u001b]0;x\u0007\u001b[2J\u009b31m\r\n'],
  ['bytes that are no text', '\u0000\u00ff\u00fe'],
  ['a line of sizes', '\n      12 1.o\n'],
];

describe('rubbish around the frames', () => {
  it.each(rubbish)('%s before and after them costs nothing', (_, text) => {
    const noise = Buffer.from(text, 'latin1');
    expect(read(Buffer.concat([noise, recording.bytes, noise]))).toEqual(whole);
  });

  it.each(rubbish)('%s at any place inside makes no fact wrong', { timeout: longMs }, (_, text) => {
    const noise = Buffer.from(text, 'latin1');
    const { bytes } = recording;
    for (const at of offsets(bytes.length, { oneIn: 11 })) {
      expectNothingWrong(Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]));
    }
  });
});

describe('a forged frame (case 16)', () => {
  const lie = (tokenOfLie: string): Buffer =>
    printFrames(
      tokenOfLie,
      whole.map(() => ({ out: 'ProductName: macOS\nProductVersion: 99.9\nBuildVersion: 99Z99\n' })),
    );

  it('with the token of an earlier observation is not seen, before or after the real one', () => {
    expect(read(Buffer.concat([lie(oldToken), recording.bytes]))).toEqual(whole);
    expect(read(Buffer.concat([recording.bytes, lie(oldToken)]))).toEqual(whole);
  });

  it('with the token of an earlier observation alone is no answer', () => {
    expect(read(lie(oldToken)).every(({ missing }) => missing === 'truncated')).toBe(true);
  });

  it('with a token in capitals, shortened or lengthened is no answer', () => {
    for (const other of [token.toUpperCase(), token.slice(1), token.slice(0, -1), `${token}0`, `0${token}`]) {
      expect(read(lie(other)).every(({ missing }) => missing !== undefined)).toBe(true);
    }
  });

  it('inside the output of a tool costs that tool alone, for it cannot know the token', () => {
    const said = saidBy(whole).map((one, at) => (at === 2 ? { ...one, out: lie(oldToken) } : one));
    const answers = read(printFrames(token, said));
    expect(answers.filter((_, at) => at !== 2)).toEqual(whole.filter((_, at) => at !== 2));
    expectRightOrUnknown(answers.filter(({ probe }) => probe !== whole[2]?.probe));
  });

  it('with the right token after the real one makes what is told twice unbelievable, and nothing wrong', () => {
    const doubled = read(Buffer.concat([recording.bytes, lie(token)]));
    expect(doubled.every(({ missing }) => missing === 'garbled')).toBe(true);
  });

  it('with an exit code, a size or a number of probes that cannot be is no answer', () => {
    const text = recording.bytes.toString('latin1');
    const first = new RegExp(`^${token} 1 0 0$`, 'm');
    const changes: readonly (readonly [RegExp, string])[] = [
      [first, `${token} 1 256 0`],
      [first, `${token} 1 -1 0`],
      [first, `${token} 1 0 2`],
      [first, `${token} 1 NaN 0`],
      [first, `${token} 1 1e1 0`],
      [/ (\d+) 1\.o$/m, ' 999999999999999 1.o'],
      [/ (\d+) 1\.o$/m, ' 99999999999999999999 1.o'],
      [/ (\d+) 1\.o$/m, ' -5 1.o'],
    ];
    for (const [from, to] of changes) {
      const answers = read(Buffer.from(text.replace(from, to), 'latin1'));
      expect(answers[0]?.missing).toBe('garbled');
      expect(answers.slice(1)).toEqual(whole.slice(1));
    }
    const others = read(Buffer.from(text.replace(`begin 1 ${probes.length}`, 'begin 1 999999'), 'latin1'));
    expect(others.every(({ missing }) => missing === 'garbled')).toBe(true);
  });
});
