import type { FlowSight } from '../model/gateway.ts';

/** What was seen of one answer: how many tokens, and whether the runtime said so itself. */
interface Metered {
  readonly tokens: number;
  readonly isSaid: boolean;
}

/** Counts the tokens of an answer that passes by, and keeps nothing of it but numbers. */
export interface Meter {
  /** Looks at the next bytes; true when they bring the first text of a stream. */
  readonly see: (chunk: Buffer) => boolean;
  /** Pieces of text of a stream so far. */
  readonly pieces: () => number;
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
  return {
    see: (chunk) => {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(chunk);
      else chunks.length = 0;
      return false;
    },
    pieces: () => 0,
    result: () => {
      const said = usageTokens(parseJson(Buffer.concat(chunks).toString('utf8')));
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

  const seeLine = (line: string): boolean => {
    if (!line.startsWith('data:')) return false;
    const document = parseJson(line.slice('data:'.length));
    said = usageTokens(document) ?? said;
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
    result: () => ({ tokens: said ?? pieces, isSaid: said !== undefined }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** `usage` of chat and text completions, and of the two younger APIs, where it may lie below `response`. */
function usageTokens(document: unknown): number | undefined {
  const usage = fieldOf(document, 'usage') ?? fieldOf(fieldOf(document, 'response'), 'usage');
  const tokens = fieldOf(usage, 'completion_tokens') ?? fieldOf(usage, 'output_tokens');
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0 ? Math.floor(tokens) : undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const deltaNames = ['content', 'reasoning_content', 'reasoning', 'text', 'thinking', 'partial_json'];

/** Whether an event brings text: of a chat, of its reasoning, of a call of a tool, of a text completion. */
function hasText(event: unknown): boolean {
  const choices = fieldOf(event, 'choices');
  if (Array.isArray(choices)) {
    return choices.some((choice) => isText(fieldOf(choice, 'text')) || isDelta(fieldOf(choice, 'delta')));
  }
  const delta = fieldOf(event, 'delta');
  return isText(delta) || isDelta(delta);
}

const isDelta = (delta: unknown): boolean =>
  deltaNames.some((name) => isText(fieldOf(delta, name))) || Array.isArray(fieldOf(delta, 'tool_calls'));

/** One request that a runtime has. Each of its acts may come more than once, and after its end they mean nothing. */
export interface Passage {
  /** Bytes of its answer came; a refusal is none. Bytes without text may be a server that only says that it lives. */
  readonly came: (hasText?: boolean) => void;
  /** Whether its client takes no more for now. */
  readonly hold: (isHeld: boolean) => void;
  readonly end: () => void;
}

/** When anything came from one runtime; nothing of what it was. */
export interface Flow {
  /** @param isStreamed whether its answer is to come piece by piece */
  readonly begin: (isStreamed: boolean) => Passage;
  readonly sight: () => Pick<FlowSight, 'lastByteMsAgo' | 'quietMs' | 'streamQuietMs'> & {
    /** Since the last text of any answer; absent where none has come. */
    readonly lastTokenMsAgo?: number;
  };
}

/** A flow by a clock that never goes back. */
export function makeFlow(now: () => number): Flow {
  const inside = new Set<Passage>();
  const held = new Set<Passage>();
  /** When those began whose answers are streamed. */
  const streamed = new Map<Passage, number>();
  let lastByteAtMs: number | undefined;
  let lastTokenAtMs: number | undefined;
  // An idle runtime is not quiet: its silence counts from the request that found it idle.
  let quietFromMs = now();

  function begin(isStreamed: boolean): Passage {
    if (inside.size === 0) quietFromMs = now();
    const passage: Passage = {
      came: (hasText) => {
        if (!inside.has(passage)) return;
        lastByteAtMs = now();
        if (hasText === true) lastTokenAtMs = lastByteAtMs;
        quietFromMs = lastByteAtMs;
      },
      hold: (isHeld) => {
        if (isHeld && inside.has(passage)) held.add(passage);
        // What was held back by its client could not have come.
        else if (held.delete(passage)) quietFromMs = now();
      },
      end: () => {
        passage.hold(false);
        inside.delete(passage);
        streamed.delete(passage);
      },
    };
    inside.add(passage);
    if (isStreamed) streamed.set(passage, now());
    return passage;
  }

  function sight(): ReturnType<Flow['sight']> {
    const at = now();
    const isJudged = inside.size > 0 && held.size === 0;
    // A whole answer comes at its end: its silence says nothing, and a stream that began in it is not silent for as long.
    const streamFromMs = Math.max(quietFromMs, Math.min(...streamed.values()));
    return {
      ...(lastByteAtMs === undefined ? {} : { lastByteMsAgo: Math.round(at - lastByteAtMs) }),
      ...(lastTokenAtMs === undefined ? {} : { lastTokenMsAgo: Math.round(at - lastTokenAtMs) }),
      ...(isJudged ? { quietMs: Math.round(at - quietFromMs) } : {}),
      ...(isJudged && streamed.size > 0 ? { streamQuietMs: Math.round(at - streamFromMs) } : {}),
    };
  }
  return { begin, sight };
}
