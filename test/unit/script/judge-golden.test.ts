import { describe, expect, it } from 'vitest';
import { askCommand, parseTimedAnswer } from '../../../src/script/ask-endpoint.ts';
import { judgeGolden, tokensPerSecond } from '../../../src/script/judge-golden.ts';

const pointer = '/choices/0/message/content';
const answer = (content: unknown, usage?: unknown) => ({
  status: 200,
  body: JSON.stringify({ choices: [{ message: { content } }], usage }),
});

describe('a golden answer', () => {
  it('has its text and the tokens that the endpoint counts', () => {
    expect(judgeGolden(answer('one, two', { completion_tokens: 3 }), pointer, 'equal')).toEqual({
      kind: 'golden',
      text: 'one, two',
      tokens: 3,
    });
  });

  it.each([undefined, null, {}, { completion_tokens: '3' }, { completion_tokens: 0 }, { completion_tokens: 1.5 }])(
    'has no count of tokens where usage is %j: words are no tokens',
    (usage) => {
      expect(judgeGolden(answer('one two three', usage), pointer, 'equal')).toEqual({
        kind: 'golden',
        text: 'one two three',
      });
    },
  );

  it.each([
    ['\u0000\u0001', 'the text is not printable'],
    ['caf\ufffd', 'the text is not printable'],
    [' \n ', 'the text is blank'],
    ['', `the text at ${pointer} is empty`],
    [7, `the answer has no text at ${pointer}`],
  ])('is none where the text is %j', (content, reason) => {
    expect(judgeGolden(answer(content), pointer, 'printable')).toEqual({ kind: 'none', reason });
  });

  it('is what a reasoning model thought and what it said: either may differ', () => {
    const message = { reasoning_content: 'Count. ', content: 'one, two' };
    const both = { status: 200, body: JSON.stringify({ choices: [{ message }] }) };
    expect(judgeGolden(both, pointer, 'equal')).toEqual({ kind: 'golden', text: 'Count. one, two' });
    const thought = { status: 200, body: JSON.stringify({ choices: [{ message: { reasoning: 'Hm\ufffd' } }] }) };
    expect(judgeGolden(thought, pointer, 'equal')).toEqual({ kind: 'none', reason: 'the text is not printable' });
  });

  it('may be anything that is a token where nobody knows what it must be', () => {
    expect(judgeGolden(answer('\u0001'), pointer, 'none')).toEqual({ kind: 'golden', text: '\u0001' });
    expect(judgeGolden({ status: 503, body: '' }, pointer, 'none')).toMatchObject({ kind: 'none' });
  });
});

describe('the speed of an answer', () => {
  it('is that of the tokens behind the first one', () => {
    expect(tokensPerSecond({ firstMs: 100, wholeMs: 1_650, tokens: 32 })).toBe(20);
  });

  it('is unknown of one token, and where the whole took no longer than the first', () => {
    expect(tokensPerSecond({ firstMs: 100, wholeMs: 200, tokens: 1 })).toBeUndefined();
    expect(tokensPerSecond({ firstMs: 200, wholeMs: 200, tokens: 32 })).toBeUndefined();
  });

  it('is measured by curl on the node', () => {
    const command = askCommand({ port: 8080, path: '/x', deadlineSeconds: 1, rootPrefix: '', isTimed: true });
    expect(command).toContain('%{time_total} %{http_code}');
    expect(parseTimedAnswer('{"a":1}\n0.120034 200')).toEqual({ status: 200, body: '{"a":1}', seconds: 0.120034 });
    expect(parseTimedAnswer('\n0,5 000')).toEqual({ status: 0, body: '', seconds: 0.5 });
    expect([parseTimedAnswer('0.1 200'), parseTimedAnswer('x\n200')]).toEqual([undefined, undefined]);
  });
});
