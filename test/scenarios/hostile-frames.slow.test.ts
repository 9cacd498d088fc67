import { beforeAll, describe, expect, it } from 'vitest';
import { allProbes, factsJson, parseFacts } from '../../src/engine/observe/facts.ts';
import type { Answer } from '../../src/model/probe.ts';
import { parseFrames } from '../../src/node/frames.ts';
import { printFrames, type Recording, recordFrames, saidBy } from '../hostile/recorded-frames.ts';
import { offsets } from '../sample.ts';
import { startExampleRack } from './observe-rack.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const oldToken = 'fedcba9876543210fedcba9876543210';
/** A full run tries every offset. */
const longMs = 240_000;
const probes = allProbes();
let recording: Recording;
let whole: readonly Answer[];

beforeAll(async () => {
  const rack = await startExampleRack();
  try {
    recording = await recordFrames(rack.way('studio-1'), boundary);
  } finally {
    await rack.stop();
  }
  whole = read(recording.bytes);
});

const read = (bytes: Buffer): readonly Answer[] => parseFrames(bytes, { probes, boundary });

/** Expects every fact to be right or unknown; returns the number of known facts. */
function expectRightOrUnknown(answers: readonly Answer[]): number {
  const right = factsJson(parseFacts(whole, recording.asked));
  const facts = Object.entries(factsJson(parseFacts(answers, recording.asked)));
  for (const [name, fact] of facts) {
    if ('value' in fact) expect(fact).toEqual(right[name as keyof typeof right]);
  }
  return facts.filter(([, fact]) => 'value' in fact).length;
}

/** The state of each answer: the same as in the whole recording, or missing with a reason. */
function arrived(bytes: Buffer): string {
  return read(bytes)
    .map((answer, at) => answer.missing ?? (JSON.stringify(answer) === JSON.stringify(whole[at]) ? 'whole' : 'WRONG'))
    .join(' ');
}

describe('the recorded frames', () => {
  it('contain an answer to every probe', () => {
    expect(whole.filter(({ missing }) => missing !== undefined)).toEqual([]);
    expect(expectRightOrUnknown(whole)).toBe(Object.keys(parseFacts(whole, recording.asked)).length);
  });

  it('match the protocol description', () => {
    const printed = printFrames(boundary, saidBy(whole));
    const noTotal = (bytes: Buffer): string => bytes.toString('latin1').replace(/^ *\d+ total$/m, 'total');
    // Implementations of wc pad differently.
    const packed = (bytes: Buffer): string => noTotal(bytes).replaceAll(/^ +(?=\d+ \d+\.[oe]$)/gm, '');
    expect(packed(printed)).toBe(packed(recording.bytes));
  });
});

describe('frames with a missing part', () => {
  it('give whole or truncated answers and no wrong fact when the end is missing', () => {
    const { bytes } = recording;
    const seen = new Map<string, number>();
    for (let length = 0; length <= bytes.length; length += 1) {
      const state = arrived(bytes.subarray(0, length));
      if (!seen.has(state)) seen.set(state, length);
    }
    expect([...seen.keys()].join(' ').split(' ')).not.toContain('WRONG');
    expect([...seen.keys()].join(' ').split(' ')).not.toContain('garbled');
    const known = [...seen.values()].map((length) => expectRightOrUnknown(read(bytes.subarray(0, length))));
    // The answers arrive in order, so the number of known facts only grows.
    expect(known).toEqual([...known].sort((a, b) => a - b));
    expect(seen.size).toBe(probes.length + 1);
  });

  it('give no answer when the start is missing', { timeout: longMs }, () => {
    const { bytes } = recording;
    const start = bytes.indexOf(`${boundary} begin`);
    for (const from of offsets(bytes.length, { from: start + 1, oneIn: 7 })) {
      expect(read(bytes.subarray(from)).every(({ missing }) => missing !== undefined)).toBe(true);
    }
  });

  it('do not give a wrong fact when any middle part is missing', { timeout: longMs }, () => {
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
  // A cut of a padding blank, or of a whole zero in an exit line, does not change the meaning.
  if (arrived(bytes).includes('WRONG')) expectRightOrUnknown(read(bytes));
}

/** Text that a node, or programs before and after the script, could write to the stream. */
const noises: readonly (readonly [what: string, text: string])[] = [
  ['a banner', 'Last login: today\nWelcome!\n'],
  ['a different token', `\n${oldToken} begin 1 ${probes.length}\n${oldToken} 1 0 0\n`],
  ['an end with a different token', `\n${oldToken} end\n`],
  ['a separator without a token', '\n 1 out\n'],
  ['control characters', '\u001b]0;x\u0007\u001b[2J\u009b31m\r\n'],
  ['bytes that are not text', '\u0000\u00ff\u00fe'],
  ['a line of sizes', '\n      12 1.o\n'],
];

describe('noise in the frame stream', () => {
  it.each(noises)('does not change any answer when %s comes before and after the frames', (_, text) => {
    const noise = Buffer.from(text, 'latin1');
    expect(read(Buffer.concat([noise, recording.bytes, noise]))).toEqual(whole);
  });

  it.each(noises)('does not make any fact wrong when %s is inside the frames', { timeout: longMs }, (_, text) => {
    const noise = Buffer.from(text, 'latin1');
    const { bytes } = recording;
    for (const at of offsets(bytes.length, { oneIn: 11 })) {
      expectNothingWrong(Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]));
    }
  });
});

describe('a forged frame', () => {
  const lie = (forgedToken: string): Buffer =>
    printFrames(
      forgedToken,
      whole.map(() => ({ out: 'ProductName: macOS\nProductVersion: 99.9\nBuildVersion: 99Z99\n' })),
    );

  it("is ignored before and after the real one if it has an earlier observation's token", () => {
    expect(read(Buffer.concat([lie(oldToken), recording.bytes]))).toEqual(whole);
    expect(read(Buffer.concat([recording.bytes, lie(oldToken)]))).toEqual(whole);
  });

  it('counts as no answer if there is no real one and its token is old', () => {
    expect(read(lie(oldToken)).every(({ missing }) => missing === 'truncated')).toBe(true);
  });

  it('counts as no answer if its token is in capitals, shortened or lengthened', () => {
    for (const other of [
      boundary.toUpperCase(),
      boundary.slice(1),
      boundary.slice(0, -1),
      `${boundary}0`,
      `0${boundary}`,
    ]) {
      expect(read(lie(other)).every(({ missing }) => missing !== undefined)).toBe(true);
    }
  });

  it('affects only the tool that prints it, which cannot know the token', () => {
    const said = saidBy(whole).map((one, at) => (at === 2 ? { ...one, out: lie(oldToken) } : one));
    const answers = read(printFrames(boundary, said));
    expect(answers.filter((_, at) => at !== 2)).toEqual(whole.filter((_, at) => at !== 2));
    expectRightOrUnknown(answers.filter(({ probe }) => probe !== whole[2]?.probe));
  });

  it('makes duplicate answers invalid if it has the right token', () => {
    const doubled = read(Buffer.concat([recording.bytes, lie(boundary)]));
    expect(doubled.every(({ missing }) => missing === 'garbled')).toBe(true);
  });

  it('counts as no answer if its exit code, size or number of probes is impossible', () => {
    const text = recording.bytes.toString('latin1');
    const first = new RegExp(`^${boundary} 1 0 0$`, 'm');
    const changes: readonly (readonly [RegExp, string])[] = [
      [first, `${boundary} 1 256 0`],
      [first, `${boundary} 1 -1 0`],
      [first, `${boundary} 1 0 2`],
      [first, `${boundary} 1 NaN 0`],
      [first, `${boundary} 1 1e1 0`],
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
