import { notAskedStatus } from './turn-at-endpoint.ts';

/** What an endpoint gave back for the request of one token. */
export type TokenAnswer =
  /**
   * `text` is empty only where the runtime counted a token that has none. `thought` is what a model thought aloud
   * before it, where it says both; `isThought` where the text itself is all thought.
   */
  | { readonly kind: 'token'; readonly text: string; readonly thought?: string; readonly isThought?: true }
  /** `reason` is a few words that go on "no token: …". */
  | { readonly kind: 'none'; readonly reason: string };

/** An HTTP answer. `status` is 0 when there was none, as `curl -w '%{http_code}'` prints it. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

const none = (reason: string): TokenAnswer => ({ kind: 'none', reason });

/** Where a chat completion has its text. @see OpenAI API reference, the chat completion object */
const chatPointer = '/choices/0/message/content';

/** Why no token was asked for: see `notAskedStatus`. */
export const notAskedReason = 'a request is in flight; it was not asked';

/** How a completion ends that gave a token; one that was broken off has another word, or none. */
const endings: readonly unknown[] = ['length', 'stop'];

/** Where servers put what a model thinks aloud; the tokens of a reasoning model begin there. */
const thoughtPointers = ['/choices/0/message/reasoning_content', '/choices/0/message/reasoning'];

/**
 * Whether an answer carries a token: status 200, JSON, and at the JSON pointer (RFC 6901) a text that is not empty.
 * An answer without text is none, since a mesh that lost a rank can go on answering 200. Of a chat completion what the
 * model thinks aloud counts as well: it comes from the same mesh, and the first token of some models is always one of
 * these. Never throws.
 *
 * @param countPointer where the runtime says how many tokens it generated, if it really counts them: then a counted
 * token without text is a token as well, since servers strip `<think>` from the text. A mesh that lost a rank counts none.
 * @example
 * judgeToken({ status: 200, body: '{"choices":[{"message":{"content":"Hi"}}]}' }, '/choices/0/message/content')
 * // { kind: 'token', text: 'Hi' }
 */
export function judgeToken(answer: HttpAnswer, pointer: string, countPointer?: string): TokenAnswer {
  if (answer.status === 0) return none('the endpoint did not answer');
  if (answer.status === notAskedStatus) return none(notAskedReason);
  if (answer.status !== 200) return none(`the endpoint answered with status ${answer.status}`);
  const document = parseJson(answer.body);
  if (document === undefined) return none('the answer is not JSON');
  const found = valueAt(document.value, pointer);
  const thought = pointer === chatPointer ? thoughtOf(document.value) : '';
  if (thought !== '') {
    return typeof found === 'string' && found !== ''
      ? { kind: 'token', text: found, thought }
      : { kind: 'token', text: thought, isThought: true };
  }
  if (typeof found !== 'string' || found === '') {
    if (countPointer !== undefined && hasCounted(document.value, countPointer)) return { kind: 'token', text: '' };
  }
  if (found === undefined) return none(`the answer has nothing at ${pointer}`);
  if (typeof found !== 'string') return none(`the answer has no text at ${pointer}`);
  return found === '' ? none(`the text at ${pointer} is empty`) : { kind: 'token', text: found };
}

function hasCounted(root: unknown, countPointer: string): boolean {
  const count = valueAt(root, countPointer);
  return Number.isInteger(count) && Number(count) >= 1 && endings.includes(valueAt(root, '/choices/0/finish_reason'));
}

/** Some servers write the same thought under both names. */
function thoughtOf(root: unknown): string {
  const thoughts = thoughtPointers.map((at) => valueAt(root, at)).filter((one) => typeof one === 'string');
  return [...new Set(thoughts)].join('');
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The value that a JSON pointer leads to; `undefined` when there is none, or when the pointer is no pointer. */
function valueAt(root: unknown, pointer: string): unknown {
  if (pointer !== '' && !pointer.startsWith('/')) return undefined;
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(childOf, root);
}

function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  // An array has `length` as its own property too.
  if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
