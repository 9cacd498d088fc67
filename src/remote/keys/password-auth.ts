import type { AuthHandlerMiddleware, KeyboardInteractiveAuthMethod } from 'ssh2';
import type { Secret } from '../../model/secret.ts';

/** What a login by password tells while it goes on. */
export interface PasswordWatch {
  /** Which methods the node still offers after it refused one. */
  readonly refused: (methodsLeft: readonly string[], isPartial: boolean) => void;
  /** Whether the password may be sent to whoever says what was said so far. Asked once, before it is sent. */
  readonly maySend: () => boolean;
  /** The password is being sent. */
  readonly sent: () => void;
  /** The node asked for something else than one hidden answer; nothing was sent. */
  readonly strange: () => void;
}

/**
 * Login by password alone, once: `none` first, which makes the node say its banner and its methods; then `password`,
 * else `keyboard-interactive` with exactly one prompt without echo. No key, no agent, no second try. ssh2 judges the
 * host key before the first of them is sent.
 */
export function passwordOnly(username: string, password: Secret, watch: PasswordWatch): AuthHandlerMiddleware {
  let isSpent = false;
  return (methodsLeft, isPartial, next) => {
    if (methodsLeft === null) return next({ type: 'none', username });
    watch.refused(methodsLeft, isPartial === true);
    if (isSpent || isPartial === true || !watch.maySend()) return false;
    isSpent = true;
    if (methodsLeft.includes('password')) {
      watch.sent();
      return next({ type: 'password', username, password: password.reveal() });
    }
    if (!methodsLeft.includes('keyboard-interactive')) return false;
    return next(oneHiddenPrompt(username, password, watch));
  };
}

function oneHiddenPrompt(username: string, password: Secret, watch: PasswordWatch): KeyboardInteractiveAuthMethod {
  let isAnswered = false;
  return {
    type: 'keyboard-interactive',
    username,
    prompt: (...[, , , prompts, finish]) => {
      if (isAnswered || prompts.length !== 1 || prompts[0]?.echo === true) return watch.strange();
      isAnswered = true;
      watch.sent();
      finish([password.reveal()]);
    },
  };
}
