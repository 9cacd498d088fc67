import { describe, expect, it } from 'vitest';
import { parseFrames } from '../../../src/node/frames.ts';
import { bodies, head, probesFor, type Ran, rightAnswer, stream, token } from './frame-stream.ts';

const three: readonly Ran[] = [
  { stdout: 'one\n' },
  { stdout: '', stderr: 'no such thing\n', code: '1' },
  { stdout: 'drei ü\n', code: '0', isLate: true },
];
const parse = (output: Uint8Array | string, all: readonly Ran[] = three) =>
  parseFrames(Buffer.from(output), { probes: probesFor(all), token });
const reasons = (output: Uint8Array | string, all = three) => parse(output, all).map(({ missing }) => missing);
const replace = (from: string, to: string) => stream(three).toString('utf8').replace(from, to);

describe('frames', () => {
  it('give one answer per probe, in order', () => {
    expect(parse(stream(three))).toEqual(three.map(rightAnswer));
  });

  it('are found between a banner and the noise of an rc file (case 16)', () => {
    const banner = `\u001b[1mWelcome\u001b[0m\nToken: ${token}\n${token} begin 1 3\n`.replace(
      `${token} begin`,
      'begin',
    );
    expect(parse(Buffer.concat([Buffer.from(banner), stream(three), Buffer.from('logout\n\xff')]))).toEqual(
      three.map(rightAnswer),
    );
  });

  it('without the right token are no frames', () => {
    const forged = stream(three).toString('utf8').replaceAll(token, 'f'.repeat(32));
    expect(reasons(forged)).toEqual(['truncated', 'truncated', 'truncated']);
    expect(parse(forged + stream(three).toString('utf8'))).toEqual(three.map(rightAnswer));
  });

  it('inside an output, without the right token, are only its text', () => {
    const stdout = `\n${'f'.repeat(32)} 1 out\nforged\n${'f'.repeat(32)} end\n`;
    const all = [{ stdout }, { stdout: 'x\n' }];
    expect(parse(stream(all), all)).toEqual(all.map(rightAnswer));
  });

  it('keep the exit of a signal apart from one of the tool, and one that nobody knows', () => {
    const all = [{ code: '137', isLate: true }, { code: '153' }, { code: 'stuck' }, { code: '255' }, { code: '138' }];
    const exits = parse(stream(all), all).map(({ exit, isLate }) => [exit, isLate]);
    expect(exits).toEqual([
      [{ kind: 'signalled', signal: 'KILL' }, true],
      [{ kind: 'signalled', signal: 'XFSZ' }, false],
      [{ kind: 'unknown', reason: 'it was still there after it had been killed' }, true],
      [{ kind: 'exited', code: 255 }, false],
      [{ kind: 'signalled', signal: '10' }, false],
    ]);
  });

  it('cut an output that is longer than its probe allows, and say so', () => {
    const all = [{ stdout: 'x'.repeat(1_500) }, { stderr: 'y'.repeat(1_001) }, { stdout: 'z'.repeat(1_000) }];
    const answers = parse(stream(all), all);
    expect(answers.map(({ isTruncated }) => isTruncated)).toEqual([true, true, false]);
    expect(answers[0]?.stdout).toBe('x'.repeat(1_000));
  });

  it('say when an output is not UTF-8 (case 17)', () => {
    const all = [{ stdout: new Uint8Array([0x61, 0xff, 0x0a]) }, { stdout: 'ä\n' }];
    expect(parse(stream(all), all).map(({ isUtf8, stdout }) => [isUtf8, stdout])).toEqual([
      [false, 'a\ufffd\n'],
      [true, 'ä\n'],
    ]);
  });

  it('say that nothing was asked when the node has no place for its files', () => {
    expect(reasons(`\n${token} nowhere\n`)).toEqual(['not-asked', 'not-asked', 'not-asked']);
  });

  it.each([
    ['a size that lies', '       4 1.o', '       5 1.o'],
    ['a size that is not there', '       4 1.o\n', ''],
    ['a size that comes twice', '       4 1.o', '       4 1.o\n       4 1.o'],
    ['a line that is not there', `${token} 1 0 0\n`, ''],
    ['a line that comes twice', `${token} 1 0 0\n`, `${token} 1 0 0\n${token} 1 7 0\n`],
    ['an exit code that no process has', `${token} 1 0 0`, `${token} 1 256 0`],
    ['a separator that comes twice', `\n${token} 1 out\n`, `\n${token} 1 out\n\n${token} 1 out\n`],
    ['a separator of another probe inside it', 'one\n', `\n${token} 3 out\n`],
    ['the end inside it', 'one\n', `\n${token} end\n`],
  ])('with %s cost the answer of that probe', (_, from, to) => {
    const [first, second, third] = parse(replace(from, to));
    expect(first?.missing).toBe('garbled');
    if (!to.includes(' 3 out') && !to.includes(' end')) {
      expect([second, third]).toEqual(three.slice(1).map((ran, at) => rightAnswer(ran, at + 1)));
    }
  });

  it('with an index out of range cost nothing', () => {
    expect(parse(replace(`${token} sizes\n`, `${token} 4 0 0\n${token} 0 0 0\n${token} sizes\n`))).toEqual(
      three.map(rightAnswer),
    );
  });

  it('find the next probe after an output that grew between counting and printing', () => {
    const [first, second, third] = parse(replace('one\n', 'one\ntwo\n'));
    expect(first?.missing).toBe('garbled');
    expect([second, third]).toEqual(three.slice(1).map((ran, at) => rightAnswer(ran, at + 1)));
  });

  it('for another number of probes are not these frames', () => {
    expect(reasons(stream(three.slice(0, 2)))).toEqual(['garbled', 'garbled', 'garbled']);
  });

  it('cut before their end cost only what was cut', () => {
    const whole = Buffer.concat([Buffer.from(head(three)), bodies(three)]);
    const at = whole.indexOf(`\n${token} 3 err`);
    expect(reasons(whole.subarray(0, at))).toEqual([undefined, undefined, 'truncated']);
    expect(reasons('')).toEqual(['truncated', 'truncated', 'truncated']);
  });
});
