import type { Json } from '../../model/json.ts';
import { withQuestion } from './chat-request.ts';
import type { TokenRequest } from './driver.ts';

/** How many tokens the golden answer has at the most. @see runtimes: order of a mesh start, step 11 */
const goldenTokens = 32;

/** Asks for a text that every model can write and that fills its tokens. */
const question = 'Count from one to twenty in words.';

/**
 * The body of the golden question, made from the request for one token: the same with another question and more tokens,
 * and nothing left to chance.
 */
export const goldenBody = (token: Pick<TokenRequest, 'path' | 'body'>): Json => ({
  ...withQuestion(token, question),
  max_tokens: goldenTokens,
  temperature: 0,
  seed: 0,
  stream: false,
});
