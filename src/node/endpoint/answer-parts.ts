import type { TokenAnswer } from './judge-token.ts';

/** What a model said, and what it thought aloud before; either may be empty. */
export interface AnswerParts {
  readonly answer: string;
  readonly thought: string;
}

const open = '<think>';
const close = '</think>';

/**
 * Parts the thoughts of a model from its answer: those that the server gives beside it, and those at its beginning up to
 * `</think>`. Many templates write the opening sign at the end of the question: without one, thoughts end only where the
 * closing sign ends its line, and only where the server told none apart; anywhere else an answer speaks of the sign.
 * Thoughts that were cut off have no end: then there is no answer.
 */
export function answerParts({ text, thought = '', isThought }: Extract<TokenAnswer, { kind: 'token' }>): AnswerParts {
  if (isThought === true) return { answer: '', thought: text };
  const isTold = thought.trim() !== '';
  const inside = insideText(text, isTold);
  const thoughts = [thought, inside.thought].filter((one) => one.trim() !== '');
  return { answer: inside.answer, thought: thoughts.join('\n') };
}

function insideText(text: string, isTold: boolean): AnswerParts {
  const begun = text.trimStart();
  if (begun.startsWith(open)) {
    const rest = begun.slice(open.length);
    const end = rest.indexOf(close);
    return end === -1 ? { answer: '', thought: rest.trim() } : partedAt(rest, end);
  }
  const end = text.indexOf(close);
  const isEnd = end !== -1 && /^[ \t\r]*(?:\n|$)/.test(text.slice(end + close.length));
  const isOpenedBefore = isEnd && !text.slice(0, end).includes(open);
  return isOpenedBefore && !isTold ? partedAt(text, end) : { answer: text, thought: '' };
}

const partedAt = (text: string, end: number): AnswerParts => ({
  answer: text.slice(end + close.length).trimStart(),
  thought: text.slice(0, end).trim(),
});
