/**
 * Whether an endpoint takes a prompt at this path, as the older of OpenAI's two ways to ask has it, and no chat.
 *
 * @see OpenAI API reference, Completions and Chat Completions
 */
export const takesPrompt = (path: string): boolean => /(?<!\/chat)\/completions\/?(?:\?|$)/.test(path);

/** Where the text of an answer stands that was asked for at this path. */
export const usualPointer = (path: string): string =>
  takesPrompt(path) ? '/choices/0/text' : '/choices/0/message/content';
