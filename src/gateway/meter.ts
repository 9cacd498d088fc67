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
