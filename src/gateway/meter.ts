import { jsonObject, parsedJson } from '../model/digest.ts';

/** What was seen of one answer: how many tokens, and whether the runtime said so itself. */
export interface Metered {
  readonly tokens: number;
  readonly isSaid: boolean;
}

/** Counts the tokens of an answer that passes by, and keeps nothing of it but numbers. */
export interface Meter {
  /** Looks at the next bytes; true when they bring the first text of a stream. */
  readonly see: (chunk: Buffer) => boolean;
  /** Pieces of text of a stream so far. */
  readonly pieces: () => number;
  /** Whether the contents show that the answer is complete; undefined if they are too long to tell. */
  readonly isEnded: () => boolean | undefined;
  /** Whether the answer says that nothing has ended it, as exo's after a runner was lost. */
  readonly isUnfinished: () => boolean;
  /** Whether an event of a stream was an error. */
  readonly hasError: () => boolean;
  readonly result: () => Metered;
}

/** Longer than any event or answer of a runtime; what is beyond is passed on and not counted. */
const mostBytes = 4_194_304;

/** A meter for an answer of this content type. */
export const meterFor = (contentType: string): Meter =>
  contentType.includes('text/event-stream') ? streamMeter() : wholeMeter();

/** An answer in one piece: `usage` says how many tokens it has. */
function wholeMeter(): Meter {
  const chunks: Buffer[] = [];
  let size = 0;
  const document = (): unknown => parsedJson(Buffer.concat(chunks).toString('utf8'));
  return {
    see: (chunk) => {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(chunk);
      else chunks.length = 0;
      return false;
    },
    pieces: () => 0,
    isEnded: () => (size > mostBytes ? undefined : document() !== undefined),
    isUnfinished: () => size <= mostBytes && lacksReason(document()),
    hasError: () => false,
    result: () => {
      const said = usageTokens(document());
      chunks.length = 0;
      return { tokens: said ?? 0, isSaid: said !== undefined };
    },
  };
}

/** Server-sent events: one token for each piece of text, unless the end of the stream says it better. */
function streamMeter(): Meter {
  let rest: Buffer = Buffer.alloc(0);
  let pieces = 0;
  let said: number | undefined;
  let hasError = false;
  let isEnded = false;
  let isUnfinished = false;
  /** Whether the event of the current lines is the last one of a stream. */
  let isEnding = false;

  const seeLine = (line: string): boolean => {
    // An event counts once its empty line has come.
    if (line === '') {
      isEnded ||= isEnding;
      isEnding = false;
    }
    if (!line.startsWith('data:')) return false;
    const data = line.slice('data:'.length);
    const document = parsedJson(data);
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
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = all.lastIndexOf(0x0a);
      rest = all.subarray(end + 1);
      if (rest.length > mostBytes) rest = Buffer.alloc(0);
      if (end < 0) return false;
      const lines = all.subarray(0, end).toString('utf8').split(/\r?\n/);
      return lines.filter(seeLine).length > 0;
    },
    pieces: () => pieces,
    isEnded: () => isEnded,
    isUnfinished: () => isUnfinished,
    hasError: () => hasError,
    result: () => ({ tokens: said ?? pieces, isSaid: said !== undefined }),
  };
}

/** The last event of a stream of the two younger APIs; that of chat and text completions is `[DONE]`. */
const lastEvents = /^(?:message_stop|response\.(?:completed|incomplete|failed))$/;

/** True for an answer in which the reason for its end is null: `finish_reason` of OpenAI, `stop_reason` of Anthropic. */
function lacksReason(document: unknown): boolean {
  const { choices, delta, stop_reason: reason } = jsonObject(document) ?? {};
  if (Array.isArray(choices)) return choices.some((choice) => jsonObject(choice)?.['finish_reason'] === null);
  return reason === null || jsonObject(delta)?.['stop_reason'] === null;
}

/** `usage` of chat and text completions, and of the two younger APIs, where it may lie below `response`. */
function usageTokens(document: unknown): number | undefined {
  const usage = jsonObject(document)?.['usage'] ?? jsonObject(jsonObject(document)?.['response'])?.['usage'];
  const tokens = jsonObject(usage)?.['completion_tokens'] ?? jsonObject(usage)?.['output_tokens'];
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0 ? Math.floor(tokens) : undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const deltaNames = ['content', 'reasoning_content', 'reasoning', 'text', 'thinking', 'partial_json'];

/** Whether an event brings text: of a chat, of its reasoning, of a call of a tool, of a text completion. */
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
