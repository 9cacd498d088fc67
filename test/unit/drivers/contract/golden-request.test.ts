import { describe, expect, it } from 'vitest';
import { goldenBody } from '../../../../src/drivers/contract/chat-request.ts';

describe('the golden request', () => {
  it('asks deterministically for a text longer than its token limit', () => {
    const body = { model: 'kimi', messages: [{ role: 'user', content: 'x' }], max_tokens: 1 };
    expect(goldenBody({ path: '/v1/chat/completions', body })).toEqual({
      model: 'kimi',
      messages: [{ role: 'user', content: expect.stringMatching(/\bone to twenty\b/) }],
      max_tokens: 32,
      temperature: 0,
      stream: false,
    });
  });
});
