import { expect, it } from 'vitest';
import { goldenBody } from '../../../../src/drivers/contract/chat-request.ts';

it('the golden request asks for a text longer than its tokens, with nothing left to chance', () => {
  const body = { model: 'kimi', messages: [{ role: 'user', content: 'x' }], max_tokens: 1 };
  expect(goldenBody({ path: '/v1/chat/completions', body })).toEqual({
    model: 'kimi',
    messages: [{ role: 'user', content: expect.stringMatching(/\bone to twenty\b/) }],
    max_tokens: 32,
    temperature: 0,
    seed: 0,
    stream: false,
  });
});
