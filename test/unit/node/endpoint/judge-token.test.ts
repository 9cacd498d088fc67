import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeToken, notAskedStatus } from '../../../../src/node/endpoint/judge-answer.ts';
import { sectionsOf } from '../../../case-file.ts';

const pointer = '/choices/0/message/content';
const chat = (content: unknown): string => JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] });

describe('judgeToken', () => {
  it('finds the token at the pointer', () => {
    const token = { kind: 'token', text: 'Hi' };
    expect(judgeToken({ status: 200, body: chat('Hi') }, pointer)).toEqual(token);
    expect(judgeToken({ status: 200, body: '"Hi"' }, '')).toEqual(token);
    expect(judgeToken({ status: 200, body: '{"a/b":{"~c":"Hi"}}' }, '/a~1b/~0c')).toEqual(token);
  });

  it.each([
    ['thought with empty content', { content: '', reasoning_content: 'We' }, { text: 'We', isThought: true }],
    ['thought without content', { reasoning: 'We' }, { text: 'We', isThought: true }],
    ['thought with null content', { content: null, reasoning: 'We' }, { text: 'We', isThought: true }],
    ['thought next to an answer', { content: 'Hi', reasoning_content: 'We' }, { text: 'Hi', thought: 'We' }],
    ['thought under both keys', { reasoning: 'We', reasoning_content: 'We' }, { text: 'We', isThought: true }],
    ['answer with an empty thought', { content: 'Hi', reasoning_content: '' }, { text: 'Hi' }],
    ['answer with a null thought', { content: 'Hi', reasoning_content: null }, { text: 'Hi' }],
  ])("reads a reasoning model's message: %s", (_case, message, token) => {
    const body = JSON.stringify({ choices: [{ message }] });
    expect(judgeToken({ status: 200, body }, pointer)).toEqual({ kind: 'token', ...token });
  });

  it.each([
    [{ content: '', reasoning_content: '' }, `the text at ${pointer} is empty`],
    [{ content: '', reasoning_content: null, reasoning: 4 }, `the text at ${pointer} is empty`],
  ])('finds no token with neither thought nor text: %j', (message, reason) => {
    const body = JSON.stringify({ choices: [{ message }] });
    expect(judgeToken({ status: 200, body }, pointer)).toEqual({ kind: 'none', reason });
  });

  const cases = join(import.meta.dirname, '../../../cases/answers');
  it.each(readdirSync(cases))('returns the expected token for %s', (name) => {
    const sections = sectionsOf(readFileSync(join(cases, name), 'utf8'), ['body', 'expected']);
    const body = sections.get('body') ?? '';
    const judged = judgeToken({ status: 200, body }, pointer, '/usage/completion_tokens');
    expect(judged).toEqual(JSON.parse(sections.get('expected') ?? ''));
  });

  it.each([
    ['has a count of 0', { completion_tokens: 0 }, 'length'],
    ['has a count that is a string', { completion_tokens: '1' }, 'length'],
    ['was interrupted', { completion_tokens: 1 }, 'error'],
    ['has no finish reason', { completion_tokens: 1 }, undefined],
    ['has no count', undefined, 'length'],
  ])('finds no token in an answer that has no text and %s', (_case, usage, reason) => {
    const body = JSON.stringify({ usage, choices: [{ finish_reason: reason, message: { content: null } }] });
    expect(judgeToken({ status: 200, body }, pointer, '/usage/completion_tokens').kind).toBe('none');
  });

  it('ignores the count without a count pointer', () => {
    const choices = [{ finish_reason: 'length', message: { content: '' } }];
    const body = JSON.stringify({ usage: { completion_tokens: 1 }, choices });
    expect(judgeToken({ status: 200, body }, pointer).kind).toBe('none');
  });

  it('ignores thoughts outside the chat format', () => {
    const body = JSON.stringify({ text: '', choices: [{ message: { reasoning: 'We' } }] });
    expect(judgeToken({ status: 200, body }, '/text')).toEqual({ kind: 'none', reason: 'the text at /text is empty' });
  });

  it.each([
    ['no answer', 0, '', pointer, 'the endpoint did not answer'],
    ['no request', notAskedStatus, '', pointer, 'another request is in flight, so none was sent'],
    ['status 503', 503, chat('Hi'), pointer, 'the endpoint returned status 503'],
    ['status 204', 204, '', pointer, 'the endpoint returned status 204'],
    ['an HTML page', 200, '<html>', pointer, 'the answer is not JSON'],
    ['truncated JSON', 200, '{"choices":[', pointer, 'the answer is not JSON'],
    ['an empty list of choices', 200, '{"choices":[]}', pointer, `the answer has no value at ${pointer}`],
    ['an error document', 200, '{"error":"no model"}', pointer, `the answer has no value at ${pointer}`],
    ['a null', 200, chat(null), pointer, `the answer has no text at ${pointer}`],
    ['a number', 200, chat(4), pointer, `the answer has no text at ${pointer}`],
    ['an empty text', 200, chat(''), pointer, `the text at ${pointer} is empty`],
    ['a pointer to the length of a list', 200, '["Hi"]', '/length', 'the answer has no value at /length'],
    ['a pointer to an inherited property', 200, '{}', '/constructor', 'the answer has no value at /constructor'],
    ['an invalid pointer', 200, '{"a":"Hi"}', 'a', 'the answer has no value at a'],
  ])('finds no token in %s', (_case, status, body, at, reason) => {
    expect(judgeToken({ status, body }, at)).toEqual({ kind: 'none', reason });
  });
});
