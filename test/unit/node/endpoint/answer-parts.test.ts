import { describe, expect, it } from 'vitest';
import { answerParts } from '../../../../src/node/endpoint/judge-answer.ts';

const parts = (text: string, more: { readonly thought?: string; readonly isThought?: true } = {}) =>
  answerParts({ kind: 'token', text, ...more });

describe('the parts of an answer', () => {
  it.each([
    ['without any thought', 'Hi', { answer: 'Hi', thought: '' }],
    ['with a thought before it', '<think>\nWe greet.\n</think>\n\nHi', { answer: 'Hi', thought: 'We greet.' }],
    ['behind a line end', '\n<think>a</think>Hi', { answer: 'Hi', thought: 'a' }],
    ['whose thought was opened by the question', 'We greet.</think>\nHi', { answer: 'Hi', thought: 'We greet.' }],
    ['that is not there yet', '<think>We gr', { answer: '', thought: 'We gr' }],
    ['behind an empty thought', '<think>\n\n</think>\n\nHi', { answer: 'Hi', thought: '' }],
    [
      'that speaks of the sign itself',
      'The tag <think> opens it.',
      { answer: 'The tag <think> opens it.', thought: '' },
    ],
    [
      'that speaks of the other one',
      '<think>a</think>It ends with </think>.',
      { answer: 'It ends with </think>.', thought: 'a' },
    ],
    ['whose opened thought has lines', 'We\ngreet.\n</think>\n\nHi', { answer: 'Hi', thought: 'We\ngreet.' }],
    [
      'that speaks of the closing sign alone',
      'The `</think>` tag closes it.',
      { answer: 'The `</think>` tag closes it.', thought: '' },
    ],
    [
      'that shows both signs',
      'So:\n<think>\na\n</think>\nHi',
      { answer: 'So:\n<think>\na\n</think>\nHi', thought: '' },
    ],
  ])('%s', (_case, text, expected) => {
    expect(parts(text)).toEqual(expected);
  });

  it('are told apart where the server does so', () => {
    expect(parts('Hi', { thought: 'We greet.' })).toEqual({ answer: 'Hi', thought: 'We greet.' });
    expect(parts('We gr', { isThought: true })).toEqual({ answer: '', thought: 'We gr' });
    expect(parts('<think>b</think>Hi', { thought: 'a' })).toEqual({ answer: 'Hi', thought: 'a\nb' });
    expect(parts('It ends with </think>\nonly.', { thought: 'a' })).toEqual({
      answer: 'It ends with </think>\nonly.',
      thought: 'a',
    });
  });
});
