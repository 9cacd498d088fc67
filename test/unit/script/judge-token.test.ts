import { describe, expect, it } from 'vitest';
import { judgeToken } from '../../../src/script/judge-token.ts';

const pointer = '/choices/0/message/content';
const chat = (content: unknown): string => JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] });

describe('judge of a token', () => {
  it('takes the text at the pointer for the token', () => {
    expect(judgeToken({ status: 200, body: chat('Hi') }, pointer)).toEqual({ kind: 'token', text: 'Hi' });
    expect(judgeToken({ status: 200, body: '"Hi"' }, '')).toEqual({ kind: 'token', text: 'Hi' });
    expect(judgeToken({ status: 200, body: '{"a/b":{"~c":"Hi"}}' }, '/a~1b/~0c')).toEqual({
      kind: 'token',
      text: 'Hi',
    });
  });

  it.each([
    ['no answer at all', 0, '', pointer, 'the endpoint did not answer'],
    ['another status', 503, chat('Hi'), pointer, 'the endpoint answered with status 503'],
    ['another success', 204, '', pointer, 'the endpoint answered with status 204'],
    ['a page', 200, '<html>', pointer, 'the answer is not JSON'],
    ['an answer that was cut', 200, '{"choices":[', pointer, 'the answer is not JSON'],
    ['no choice', 200, '{"choices":[]}', pointer, `the answer has nothing at ${pointer}`],
    ['an error document', 200, '{"error":"no model"}', pointer, `the answer has nothing at ${pointer}`],
    ['a null', 200, chat(null), pointer, `the answer has no text at ${pointer}`],
    ['a number', 200, chat(4), pointer, `the answer has no text at ${pointer}`],
    ['an empty text', 200, chat(''), pointer, `the text at ${pointer} is empty`],
    ['a pointer to the length of a list', 200, '["Hi"]', '/length', 'the answer has nothing at /length'],
    ['a pointer to what every object inherits', 200, '{}', '/constructor', 'the answer has nothing at /constructor'],
    ['a text that is no pointer', 200, '{"a":"Hi"}', 'a', 'the answer has nothing at a'],
  ])('finds no token in %s', (_case, status, body, at, reason) => {
    expect(judgeToken({ status, body }, at)).toEqual({ kind: 'none', reason });
  });
});
