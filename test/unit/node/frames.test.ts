import { describe, expect, it } from 'vitest';
import { parseFrames } from '../../../src/node/frames.ts';
import { bodies, boundary, head, probesFor, type Ran, rightAnswer, stream } from './frame-stream.ts';

const three: readonly Ran[] = [
  { stdout: 'one\n' },
  { stdout: '', stderr: 'no such thing\n', code: '1' },
  { stdout: 'drei ü\n', code: '0', isLate: true },
];
const parse = (output: Uint8Array | string, all: readonly Ran[] = three) =>
  parseFrames(Buffer.from(output), { probes: probesFor(all), boundary });
const reasons = (output: Uint8Array | string, all = three) => parse(output, all).map(({ missing }) => missing);
const replace = (from: string, to: string) => stream(three).toString('utf8').replace(from, to);

describe('frames', () => {
  it('give one answer per probe, in order', () => {
    expect(parse(stream(three))).toEqual(three.map(rightAnswer));
  });

  it('are found between a banner and rc file output', () => {
    const banner = `\u001b[1mWelcome\u001b[0m\nToken: ${boundary}\n${boundary} begin 1 3\n`.replace(
      `${boundary} begin`,
      'begin',
    );
    expect(parse(Buffer.concat([Buffer.from(banner), stream(three), Buffer.from('logout\n\xff')]))).toEqual(
      three.map(rightAnswer),
    );
  });

  it('are ignored without the right token', () => {
    const forged = stream(three).toString('utf8').replaceAll(boundary, 'f'.repeat(32));
    expect(reasons(forged)).toEqual(['truncated', 'truncated', 'truncated']);
    expect(parse(forged + stream(three).toString('utf8'))).toEqual(three.map(rightAnswer));
  });

  it('count as output inside another frame if their token is wrong', () => {
    const stdout = `\n${'f'.repeat(32)} 1 out\nforged\n${'f'.repeat(32)} end\n`;
    const all = [{ stdout }, { stdout: 'x\n' }];
    expect(parse(stream(all), all)).toEqual(all.map(rightAnswer));
  });

  it('distinguish exit codes, signals and unknown exits', () => {
    const all = [{ code: '137', isLate: true }, { code: '153' }, { code: 'stuck' }, { code: '255' }, { code: '138' }];
    const exits = parse(stream(all), all).map(({ exit, isLate }) => [exit, isLate]);
    expect(exits).toEqual([
      [{ kind: 'signalled', signal: 'KILL' }, true],
      [{ kind: 'signalled', signal: 'XFSZ' }, false],
      [{ kind: 'unknown', reason: 'it was still running after KILL' }, true],
      [{ kind: 'exited', code: 255 }, false],
      [{ kind: 'signalled', signal: '10' }, false],
    ]);
  });

  it('truncate and mark output longer than the probe allows', () => {
    const all = [{ stdout: 'x'.repeat(1_500) }, { stderr: 'y'.repeat(1_001) }, { stdout: 'z'.repeat(1_000) }];
    const answers = parse(stream(all), all);
    expect(answers.map(({ isTruncated }) => isTruncated)).toEqual([true, true, false]);
    expect(answers[0]?.stdout).toBe('x'.repeat(1_000));
  });

  it('mark output that is not UTF-8', () => {
    const all = [{ stdout: new Uint8Array([0x61, 0xff, 0x0a]) }, { stdout: 'ä\n' }];
    expect(parse(stream(all), all).map(({ isUtf8, stdout }) => [isUtf8, stdout])).toEqual([
      [false, 'a\ufffd\n'],
      [true, 'ä\n'],
    ]);
  });

  it('report not-asked when the node could not create its folder', () => {
    expect(reasons(`\n${boundary} nowhere\n`)).toEqual(['not-asked', 'not-asked', 'not-asked']);
  });

  it.each([
    ['a wrong size', '       4 1.o', '       5 1.o'],
    ['a missing size', '       4 1.o\n', ''],
    ['a duplicate size', '       4 1.o', '       4 1.o\n       4 1.o'],
    ['a missing line', `${boundary} 1 0 0\n`, ''],
    ['a duplicate line', `${boundary} 1 0 0\n`, `${boundary} 1 0 0\n${boundary} 1 7 0\n`],
    ['an exit code above 255', `${boundary} 1 0 0`, `${boundary} 1 256 0`],
    ['a duplicate separator', `\n${boundary} 1 out\n`, `\n${boundary} 1 out\n\n${boundary} 1 out\n`],
    ["another probe's separator inside the output", 'one\n', `\n${boundary} 3 out\n`],
    ['an end marker inside the output', 'one\n', `\n${boundary} end\n`],
  ])('lose only the answer of a probe with %s', (_, from, to) => {
    const [first, second, third] = parse(replace(from, to));
    expect(first?.missing).toBe('garbled');
    if (!to.includes(' 3 out') && !to.includes(' end')) {
      expect([second, third]).toEqual(three.slice(1).map((ran, at) => rightAnswer(ran, at + 1)));
    }
  });

  it('are read despite an out-of-range index', () => {
    expect(parse(replace(`${boundary} sizes\n`, `${boundary} 4 0 0\n${boundary} 0 0 0\n${boundary} sizes\n`))).toEqual(
      three.map(rightAnswer),
    );
  });

  it('find the next probe after output that grew while it was printed', () => {
    const [first, second, third] = parse(replace('one\n', 'one\ntwo\n'));
    expect(first?.missing).toBe('garbled');
    expect([second, third]).toEqual(three.slice(1).map((ran, at) => rightAnswer(ran, at + 1)));
  });

  it('count as garbled if the number of probes differs', () => {
    expect(reasons(stream(three.slice(0, 2)))).toEqual(['garbled', 'garbled', 'garbled']);
  });

  it('lose only the truncated answers', () => {
    const whole = Buffer.concat([Buffer.from(head(three)), bodies(three)]);
    const at = whole.indexOf(`\n${boundary} 3 err`);
    expect(reasons(whole.subarray(0, at))).toEqual([undefined, undefined, 'truncated']);
    expect(reasons('')).toEqual(['truncated', 'truncated', 'truncated']);
  });
});
