import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readStream, type TimedPiece } from '../../../../src/node/endpoint/read-stream.ts';

const caseText = (name: string): string =>
  readFileSync(new URL(`../../../cases/bench/${name}`, import.meta.url), 'utf8');

/** The lines of an answer, which arrive every ten milliseconds from 1000 on, and curl's last line with its seconds. */
function arriving(text: string, end: string): readonly TimedPiece[] {
  return [...text.split('\n').slice(0, -1), '', end].map((line, at) => ({ atMs: 1_000 + 10 * at, text: `${line}\n` }));
}

const chunk = (content: string, rest: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], ...rest })}\n`;

describe('a streamed answer', () => {
  it("measures the time from curl's start to the first chunk with text", () => {
    const text = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n${chunk('a')}${chunk('b')}${chunk('c')}data: {"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":3}}\ndata: [DONE]\n`;
    // Seven lines arrive behind the first one: the request ended at 1070 and had begun 100 ms before.
    expect(readStream(arriving(text, '200 0.100'))).toEqual({
      kind: 'answer',
      answer: {
        startedAtMs: 970,
        endedAtMs: 1_070,
        firstTokenMs: 40,
        tokens: 3,
        isCounted: true,
        promptTokens: 40,
        promptSpeed: 1_000,
        generationSpeed: 100,
      },
    });
  });

  it('counts chunks if the endpoint counts no tokens, and marks the count', () => {
    const read = readStream(arriving(`${chunk('a')}${chunk('b')}`, '200 0.030'));
    expect(read).toMatchObject({ kind: 'answer', answer: { tokens: 2, isCounted: false, generationSpeed: 100 } });
    expect(read.kind === 'answer' && 'promptSpeed' in read.answer).toBe(false);
  });

  it('uses the speeds reported by llama-server and exo', () => {
    const timings = { prompt_n: 11, prompt_per_second: 220.5, predicted_n: 2, predicted_per_second: 71.25 };
    const llama = readStream(arriving(`${chunk('a')}${chunk('b', { timings })}`, '200 0.030'));
    expect(llama).toMatchObject({
      answer: { tokens: 2, promptTokens: 11, promptSpeed: 220.5, generationSpeed: 71.25 },
    });
    const exo = readStream(arriving(caseText('exo-chat-stream.sse.txt'), '200 0.200'));
    expect(exo).toMatchObject({
      answer: { tokens: 2, isCounted: true, promptTokens: 41, promptSpeed: 812.4, generationSpeed: 231.9 },
    });
  });

  it('has no time to first token if the runtime sends a single document', () => {
    const whole = JSON.stringify({ choices: [{ message: { content: 'Hi' } }], usage: { completion_tokens: 8 } });
    const read = readStream([{ atMs: 500, text: `${whole}\n200 0.25` }]);
    expect(read).toEqual({ kind: 'answer', answer: { startedAtMs: 250, endedAtMs: 500, tokens: 8, isCounted: true } });
    const exo = readStream(arriving(caseText('exo-bench.json'), '200 0.5'));
    expect(exo).toMatchObject({ answer: { tokens: 2, promptSpeed: 812.4, generationSpeed: 231.9 } });
  });

  it('joins split lines and times them by their last byte', () => {
    const text = `${chunk('a')}${chunk('b')}200 0.020`;
    const pieces = [...text].map((character, at) => ({ atMs: at, text: character }));
    const read = readStream(pieces);
    expect(read).toMatchObject({ answer: { tokens: 2, endedAtMs: text.length - 1 } });
  });

  it.each([
    ['000 5.000', 'the endpoint did not answer before the deadline'],
    ['503 0.010', 'the endpoint returned status 503'],
    ['200 0.010', 'the answer has no text'],
    ['curl: (7) refused', 'curl did not finish normally'],
  ])("fails if curl's last line is %s", (end, reason) => {
    expect(readStream([{ atMs: 1, text: `\n${end}` }])).toEqual({ kind: 'none', reason });
    expect(readStream([])).toEqual({ kind: 'none', reason: 'curl did not finish normally' });
  });

  it('counts thought tokens like answer tokens', () => {
    const thinking = 'data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}\n';
    expect(readStream(arriving(thinking, '200 0.1'))).toMatchObject({ answer: { tokens: 1 } });
  });
});
