import type { CommandRuntime, DesiredPlacement } from '../../model/desired.ts';
import { requestAt } from '../contract/chat-request.ts';
import type { TokenRequest } from '../contract/driver.ts';

/** The smallest request for one token at the path that the file names, with the place of the text that it names. */
export const tokenRequest = ({ model }: DesiredPlacement, { token }: CommandRuntime): TokenRequest => ({
  ...requestAt(token.path, model),
  pointer: token.json,
});
