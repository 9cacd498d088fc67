import { describe, expect, it } from 'vitest';
import { type BenchSubject, benchSettings, beyondParallel, questionBody } from '../../../../src/cli/bench/bench.ts';
import { readCountOption } from '../../../../src/cli/verb.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { chatRequest } from '../../../../src/drivers/contract/chat-request.ts';
import { problemsOf } from '../../problems-of.ts';
import { fakeRun } from '../console-of.ts';

const subject = (driver: BenchSubject['driver'], parallel: number, contextTokens = 8_192): BenchSubject => ({
  placement: { name: 'chat', parallel, contextTokens },
  driver,
});

describe('bench requests to a placement', () => {
  it("stay within the placement's limit, or cause a notice if more are requested", () => {
    expect(benchSettings({}, subject('llamacpp-rpc', 1)).requests).toEqual([1]);
    expect(benchSettings({}, subject('mlx', 3)).requests).toEqual([1, 2]);
    expect(benchSettings({}, subject('exo', 8)).requests).toEqual([1, 2, 4]);
    expect(benchSettings({}, subject('command', 1)).requests).toEqual([1, 2, 4]);

    const typed = benchSettings({ requests: [1, 4, 8] }, subject('mlx', 2));
    expect(typed.requests).toEqual([1, 4, 8]);
    const [notice] = beyondParallel(typed, subject('mlx', 2));
    expect([notice?.code, notice?.severity]).toEqual(['bench/beyond-parallel', 'notice']);
    expect(notice && plainText(notice.detail)).toContain('but was sent 4 and 8');
    expect(beyondParallel(typed, subject('command', 1))).toEqual([]);
    expect(beyondParallel(benchSettings({}, subject('mlx', 2)), subject('mlx', 2))).toEqual([]);
  });

  it('fit in the context, and are rejected if the entered values do not', () => {
    expect(benchSettings({}, subject('mlx', 1))).toEqual({ requests: [1], runs: 3, maxTokens: 128, words: 400 });
    expect(benchSettings({}, subject('mlx', 1, 512))).toMatchObject({ maxTokens: 128, words: 144 });
    expect(benchSettings({ words: 144 }, subject('mlx', 1, 512)).words).toBe(144);
    const refused = (typed: Parameters<typeof benchSettings>[0]) =>
      problemsOf(() => benchSettings(typed, subject('mlx', 1, 512))).map(({ code, hint }) => `${code} ${hint}`);
    expect(refused({ words: 145 })).toEqual(['cli/usage For this answer, use at most: --words 144']);
    expect(refused({ maxTokens: 500 })).toEqual(['cli/usage Use a smaller --max-tokens.']);
  });

  it('are chats, or plain prompts if the endpoint has no chat', () => {
    const chat = questionBody(chatRequest('tiny'), 'Why?', 7);
    expect(chat).toMatchObject({ model: 'tiny', messages: [{ role: 'user', content: 'Why?' }], max_tokens: 7 });
    expect(chat).not.toHaveProperty('prompt');
    const plain = questionBody({ ...chatRequest('tiny'), path: '/v1/completions' }, 'Why?', 7);
    expect(plain).toMatchObject({ model: 'tiny', prompt: 'Why?', max_tokens: 7, stream: true });
    expect(plain).not.toHaveProperty('messages');
  });
});

describe('an option with a count', () => {
  it('is named in the error as it is typed', () => {
    const { run } = fakeRun({ own: { maxTokens: '0' } });
    expect(() => readCountOption(run, 'maxTokens')).toThrow('"0" is not a valid count for --max-tokens.');
  });
});
