import { jsonObject, parsedJson } from '../model/digest.ts';

/** The number of tokens in one answer, and whether the runtime reported it. */
export interface Metered {
  readonly tokens: number;
  readonly isSaid: boolean;
}

/** Counts an answer's tokens as it passes through, and stores only numbers. */
export interface Meter {
  /** Reads the next bytes; true if they contain a stream's first text. */
  readonly see: (chunk: Buffer) => boolean;
  /** The number of pieces of text in a stream so far. */
  readonly pieces: () => number;
  /** Whether the contents show that the answer is complete; undefined if they are too long to tell. */
  readonly isEnded: () => boolean | undefined;
  /** Whether the answer lacks a finish reason, as exo's answer does after a runner is lost. */
  readonly isUnfinished: () => boolean;
  /** Whether an event in the stream was an error. */
  readonly hasError: () => boolean;
  readonly result: () => Metered;
}

/** No answer in one piece is longer. Bytes beyond this length are passed on but not counted. */
const mostBytes = 4_194_304;

/** No event with one token is longer. A longer line is read only for its event's type. */
const mostLineBytes = 65_536;

export const meterFor = (contentType: string): Meter =>
  contentType.includes('text/event-stream') ? streamMeter() : wholeMeter();

/**
 * The first `most` bytes of a text that arrives in pieces. They are copied, because a list of tiny pieces would take
 * far more memory.
 */
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
    /** Whether the text is longer than the stored part. */
    isCut: () => size > most,
    text: () => bytes.toString('utf8', 0, Math.min(size, most)),
    clear: (): void => {
      size = 0;
    },
  };
}

/** Measures an answer in one piece, whose `usage` contains the number of tokens. */
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

/** Measures server-sent events: each piece of text counts as one token, unless the stream's end contains the number. */
function streamMeter(): Meter {
  const line = makeBeginning(mostLineBytes);
  let pieces = 0;
  let said: number | undefined;
  let hasError = false;
  let isEnded = false;
  let isUnfinished = false;
  /** Whether the current event is the stream's last one. */
  let isEnding = false;

  const seeLine = (): boolean => {
    const text = line.text().replace(/\r$/, '');
    // An event is complete once the empty line after it has arrived.
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

/** The type of an event whose line was cut: the line of `response.completed` contains the whole answer. */
const firstType = /^ ?\{ ?"type": ?"([a-z_.]+)"/;

/** The last event of a stream in the two newer APIs; in chat and text completions, it is `[DONE]`. */
const lastEvents = /^(?:message_stop|response\.(?:completed|incomplete|failed))$/;

/** True if the answer's finish reason is null: OpenAI's `finish_reason`, Anthropic's `stop_reason`. */
function lacksReason(document: unknown): boolean {
  const { choices, delta, stop_reason: reason } = jsonObject(document) ?? {};
  if (Array.isArray(choices)) return choices.some((choice) => jsonObject(choice)?.['finish_reason'] === null);
  return reason === null || jsonObject(delta)?.['stop_reason'] === null;
}

/** The number of tokens in `usage`, which may be inside `response` in the two newer APIs. */
function usageTokens(document: unknown): number | undefined {
  const usage = jsonObject(document)?.['usage'] ?? jsonObject(jsonObject(document)?.['response'])?.['usage'];
  const tokens = jsonObject(usage)?.['completion_tokens'] ?? jsonObject(usage)?.['output_tokens'];
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0 ? Math.floor(tokens) : undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const deltaNames = ['content', 'reasoning_content', 'reasoning', 'text', 'thinking', 'partial_json'];

/** Whether an event contains text: from a chat, its reasoning, a tool call or a text completion. */
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
