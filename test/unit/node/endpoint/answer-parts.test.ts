import { describe, expect, it } from 'vitest';
import { answerParts } from '../../../../src/node/endpoint/judge-answer.ts';

const parts = (text: string, more: { readonly thought?: string; readonly isThought?: true } = {}) =>
  answerParts({ kind: 'token', text, ...more });

describe('the answer and the thought in a response', () => {
  it.each([
    ['finds no thought in plain text', 'Hi', 'Hi', ''],
    ['splits off a thought before the answer', '<think>\nWe greet.\n</think>\n\nHi', 'Hi', 'We greet.'],
    ['accepts a line break before the thought', '\n<think>a</think>Hi', 'Hi', 'a'],
    ['accepts a thought whose opening tag is in the prompt', 'We greet.</think>\nHi', 'Hi', 'We greet.'],
    ['treats an unclosed thought as no answer', '<think>We gr', '', 'We gr'],
    ['drops an empty thought', '<think>\n\n</think>\n\nHi', 'Hi', ''],
    ['leaves an opening tag inside the answer', 'The tag <think> opens it.', 'The tag <think> opens it.', ''],
    ['leaves a closing tag inside the answer', '<think>a</think>Ends with </think>.', 'Ends with </think>.', 'a'],
    ['accepts a thought of several lines without an opening tag', 'We\ngreet.\n</think>\n\nHi', 'Hi', 'We\ngreet.'],
    ['leaves a single closing tag inside a sentence', 'The `</think>` tag.', 'The `</think>` tag.', ''],
    ['leaves both tags inside the answer', 'So:\n<think>\na\n</think>\nHi', 'So:\n<think>\na\n</think>\nHi', ''],
  ])('%s', (_case, text, answer, thought) => {
    expect(parts(text)).toEqual({ answer, thought });
  });

  it('are separate if the server separates them', () => {
    expect(parts('Hi', { thought: 'We greet.' })).toEqual({ answer: 'Hi', thought: 'We greet.' });
    expect(parts('We gr', { isThought: true })).toEqual({ answer: '', thought: 'We gr' });
    expect(parts('<think>b</think>Hi', { thought: 'a' })).toEqual({ answer: 'Hi', thought: 'a\nb' });
    expect(parts('It ends with </think>\nonly.', { thought: 'a' })).toEqual({
      answer: 'It ends with </think>\nonly.',
      thought: 'a',
    });
  });
});
