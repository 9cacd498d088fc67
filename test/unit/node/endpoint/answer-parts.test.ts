import { describe, expect, it } from 'vitest';
import { answerParts } from '../../../../src/node/endpoint/judge-answer.ts';

const parts = (text: string, more: { readonly thought?: string; readonly isThought?: true } = {}) =>
  answerParts({ kind: 'token', text, ...more });

describe('the answer and the thought in a response', () => {
  it.each([
    ['finds no thought in plain text', 'Hi', { answer: 'Hi', thought: '' }],
    [
      'splits off a thought before the answer',
      '<think>\nWe greet.\n</think>\n\nHi',
      { answer: 'Hi', thought: 'We greet.' },
    ],
    ['accepts a line break before the thought', '\n<think>a</think>Hi', { answer: 'Hi', thought: 'a' }],
    [
      'accepts a thought whose opening tag is in the prompt',
      'We greet.</think>\nHi',
      { answer: 'Hi', thought: 'We greet.' },
    ],
    ['treats an unclosed thought as no answer', '<think>We gr', { answer: '', thought: 'We gr' }],
    ['drops an empty thought', '<think>\n\n</think>\n\nHi', { answer: 'Hi', thought: '' }],
    [
      'leaves an opening tag inside the answer',
      'The tag <think> opens it.',
      { answer: 'The tag <think> opens it.', thought: '' },
    ],
    [
      'leaves a closing tag inside the answer after a thought',
      '<think>a</think>It ends with </think>.',
      { answer: 'It ends with </think>.', thought: 'a' },
    ],
    [
      'accepts a thought of several lines without an opening tag',
      'We\ngreet.\n</think>\n\nHi',
      { answer: 'Hi', thought: 'We\ngreet.' },
    ],
    [
      'leaves a single closing tag inside a sentence',
      'The `</think>` tag closes it.',
      { answer: 'The `</think>` tag closes it.', thought: '' },
    ],
    [
      'leaves both tags inside the answer',
      'So:\n<think>\na\n</think>\nHi',
      { answer: 'So:\n<think>\na\n</think>\nHi', thought: '' },
    ],
  ])('%s', (_case, text, expected) => {
    expect(parts(text)).toEqual(expected);
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
