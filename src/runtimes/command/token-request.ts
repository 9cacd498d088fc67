import type { DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import type { TokenRequest } from '../driver.ts';

/** The smallest chat: one word, one token, the same answer each time. @see OpenAI API reference, Chat Completions */
export const tokenRequest = ({ model }: DesiredPlacement, { token }: DesiredRuntime): TokenRequest => ({
  path: token.path,
  body: { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1, temperature: 0, stream: false },
  pointer: token.json,
});
