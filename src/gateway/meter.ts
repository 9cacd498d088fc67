import { jsonObject, parsedJson } from '../model/digest.ts';

/** The number of tokens in one response, and whether the runtime reported this number. */
export interface Metered {
  readonly tokens: number;
  readonly isSaid: boolean;
}

/** Counts the tokens of a response as it passes through; reveals none of its text. */
export interface Meter {
  /** Reads the next chunk; true if it contains the first text of a stream. */
  readonly see: (chunk: Buffer) => boolean;
  /** The number of text chunks in a stream so far. */
  readonly pieces: () => number;
  /** Whether the contents show that the response is complete; undefined if the response is too long to tell. */
  readonly isEnded: () => boolean | undefined;
  /** Whether the response lacks a finish reason, as exo's responses do after a runner is lost. */
  readonly isUnfinished: () => boolean;
  /** Whether an event in the stream was an error. */
  readonly hasError: () => boolean;
  readonly result: () => Metered;
}

/** No non-streaming response should be longer than this. Any further bytes are forwarded but not metered. */
const mostBytes = 4_194_304;

/** No event with a single token is longer than this. If a line is longer, only the type of its event is read. */
const mostLineBytes = 65_536;

export const meterFor = (contentType: string): Meter =>
  contentType.includes('text/event-stream') ? streamMeter() : wholeMeter();

/** Copies the first `most` bytes of text that arrives in chunks; storing tiny chunks would take far more memory. */
function makeBeginning(most: number) {
  let bytes = Buffer.alloc(0);
  let size = 0;
  return {
    add: (piece: Buffer): void => {
      const from = Math.min(size, most);
      size += piece.length;
      const to = Math.min(size, most);
      if (to > bytes.length) bytes = Buffer.concat([bytes.subarray(0, from)], Math.min(most, 2 * to));
      piece.copy(bytes, from, 0, to - from);
    },
    /** Whether the text is longer than the part that was stored. */
    isCut: () => size > most,
    text: () => bytes.toString('utf8', 0, Math.min(size, most)),
    clear: (): void => {
      size = 0;
    },
  };
}

/** Measures a non-streaming response, whose `usage` contains the number of tokens. */
function wholeMeter(): Meter {
  const answer = makeBeginning(mostBytes);
  const document = (): unknown => (answer.isCut() ? undefined : parsedJson(answer.text()));
  return {
    see: (chunk) => {
      answer.add(chunk);
      return false;
    },
    pieces: () => 0,
    isEnded: () => (answer.isCut() ? undefined : document() !== undefined),
    isUnfinished: () => lacksReason(document()),
    hasError: () => false,
    result: () => {
      const said = usageTokens(document());
      return { tokens: said ?? 0, isSaid: said !== undefined };
    },
  };
}

/** Measures server-sent events. Each text chunk counts as one token unless the stream reports the number itself. */
function streamMeter(): Meter {
  const line = makeBeginning(mostLineBytes);
  let pieces = 0;
  let said: number | undefined;
  let hasError = false;
  let isEnded = false;
  let isUnfinished = false;
  /** Whether the current event is the last one in the stream. */
  let isEnding = false;

  const seeLine = (): boolean => {
    const text = line.text().replace(/\r$/, '');
    // An event is complete once the blank line after it has arrived.
    if (text === '') {
      isEnded ||= isEnding;
      isEnding = false;
    }
    if (!text.startsWith('data:')) return false;
    const data = text.slice('data:'.length);
    const document = line.isCut() ? { type: firstType.exec(data)?.[1] } : parsedJson(data);
    isEnding = data.trim() === '[DONE]' || lastEvents.test(String(jsonObject(document)?.['type']));
    isUnfinished = jsonObject(document)?.['type'] === 'message_delta' ? lacksReason(document) : isUnfinished;
    said = usageTokens(document) ?? said;
    hasError ||= (jsonObject(document)?.['error'] ?? null) !== null;
    if (!hasText(document)) return false;
    pieces += 1;
    return pieces === 1;
  };

  return {
    see: (chunk) => {
      let isFirst = false;
      let from = 0;
      for (let end = chunk.indexOf(newLine); end >= 0; end = chunk.indexOf(newLine, from)) {
        line.add(chunk.subarray(from, end));
        isFirst = seeLine() || isFirst;
        line.clear();
        from = end + 1;
      }
      line.add(chunk.subarray(from));
      return isFirst;
    },
    pieces: () => pieces,
    isEnded: () => isEnded,
    isUnfinished: () => isUnfinished,
    hasError: () => hasError,
    result: () => ({ tokens: said ?? pieces, isSaid: said !== undefined }),
  };
}

const newLine = 0x0a;

/** Matches the type of an event whose line was truncated; a `response.completed` line contains the whole answer. */
const firstType = /^ ?\{ ?"type": ?"([a-z_.]+)"/;

/** The last event of a stream in the Messages and Responses APIs; chat and text completions end with `[DONE]`. */
const lastEvents = /^(?:message_stop|response\.(?:completed|incomplete|failed))$/;

/** True if the finish reason is null: `finish_reason` in OpenAI's API, `stop_reason` in Anthropic's. */
function lacksReason(document: unknown): boolean {
  const { choices, delta, stop_reason: reason } = jsonObject(document) ?? {};
  if (Array.isArray(choices)) return choices.some((choice) => jsonObject(choice)?.['finish_reason'] === null);
  return reason === null || jsonObject(delta)?.['stop_reason'] === null;
}

/** The number of tokens in `usage`, which the Responses API may nest inside `response`. */
function usageTokens(document: unknown): number | undefined {
  const usage = jsonObject(document)?.['usage'] ?? jsonObject(jsonObject(document)?.['response'])?.['usage'];
  const tokens = jsonObject(usage)?.['completion_tokens'] ?? jsonObject(usage)?.['output_tokens'];
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0 ? Math.floor(tokens) : undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const deltaNames = ['content', 'reasoning_content', 'reasoning', 'text', 'thinking', 'partial_json'];

/** Whether an event contains text from a chat, its reasoning, a tool call or a text completion. */
function hasText(event: unknown): boolean {
  const choices = jsonObject(event)?.['choices'];
  if (Array.isArray(choices)) {
    return choices.some((choice) => isText(jsonObject(choice)?.['text']) || isDelta(jsonObject(choice)?.['delta']));
  }
  const delta = jsonObject(event)?.['delta'];
  return isText(delta) || isDelta(delta);
}

const isDelta = (delta: unknown): boolean =>
  deltaNames.some((name) => isText(jsonObject(delta)?.[name])) || Array.isArray(jsonObject(delta)?.['tool_calls']);
