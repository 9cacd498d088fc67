import { given } from '../../model/given.ts';
/** A piece of output, and when it arrived; on any clock, as long as it is the same for all pieces. */
export interface TimedPiece {
  readonly atMs: number;
  readonly text: string;
}

/** What one request to an endpoint came to. */
export interface TimedAnswer {
  /** When the request began and when its last byte was there, on the clock of the pieces. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** From the beginning to the first piece of text; absent where the answer came as one document. */
  readonly firstTokenMs?: number;
  /** Tokens of the answer; as the runtime counted them, or as many as there were pieces of text. */
  readonly tokens: number;
  readonly isCounted: boolean;
  /** Tokens of the question; absent where the runtime does not say. */
  readonly promptTokens?: number;
  /** Tokens per second; as the runtime says, else by the clock; absent where neither can tell. */
  readonly promptSpeed?: number;
  readonly generationSpeed?: number;
}

/** An answer with its times, or a few words that go on "no answer: …". */
export type StreamReading =
  | { readonly kind: 'answer'; readonly answer: TimedAnswer }
  | { readonly kind: 'none'; readonly reason: string };

/** What the documents of an answer said, the last one of each. */
interface Said {
  readonly pieces: readonly number[];
  readonly isStream: boolean;
  readonly usage: Found;
  readonly stats: Found;
}

const none = (reason: string): StreamReading => ({ kind: 'none', reason });

/**
 * Reads an answer that was asked for with `stream: true`: server-sent events, or one JSON document from a runtime that
 * streams nothing. Speeds are the runtime's own where it tells them: `timings` of llama-server, the comment
 * `generation_stats` of exo; else they follow from the arrival of the pieces. Never throws.
 */
export function readStream(pieces: readonly TimedPiece[]): StreamReading {
  const lines = linesOf(pieces);
  const last = lines.at(-1);
  const end = /^(\d{3}) (\d+(?:\.\d+)?)$/.exec(last?.text ?? '');
  if (last === undefined || end === null) return none('curl did not end in order');
  const [status, seconds] = [Number(end[1]), Number(end[2])];
  if (status === 0) return none('the endpoint did not answer before the deadline');
  if (status !== 200) return none(`the endpoint answered with status ${status}`);
  const said = readLines(lines.slice(0, -1));
  if (said.pieces.length === 0) return none('the answer has no text');
  return { kind: 'answer', answer: timed(said, { startedAtMs: last.atMs - seconds * 1_000, endedAtMs: last.atMs }) };
}

function linesOf(pieces: readonly TimedPiece[]): readonly TimedPiece[] {
  const lines: TimedPiece[] = [];
  let open = '';
  for (const { atMs, text } of pieces) {
    const parts = `${open}${text}`.split('\n');
    open = parts.pop() ?? '';
    for (const part of parts) lines.push({ atMs, text: part.replace(/\r$/, '') });
  }
  const atMs = pieces.at(-1)?.atMs ?? 0;
  return open === '' ? lines : [...lines, { atMs, text: open }];
}

function readLines(lines: readonly TimedPiece[]): Said {
  const events = lines.flatMap(({ atMs, text }) => {
    const data = /^(?:data:|: generation_stats) ?(\{.*)$/.exec(text)?.[1];
    return data === undefined ? [] : [{ atMs, isStats: text.startsWith(':'), document: parsed(data) }];
  });
  if (events.length === 0) return readWhole(lines);
  const documents = events.filter(({ isStats }) => !isStats);
  const found = (key: string): Found => documents.map(({ document }) => document?.[key]).findLast(isFound);
  return {
    isStream: true,
    pieces: documents.flatMap(({ atMs, document }) => (pieceOf(document) === '' ? [] : [atMs])),
    usage: found('usage'),
    stats: found('timings') ?? events.findLast(({ isStats }) => isStats)?.document,
  };
}

function readWhole(lines: readonly TimedPiece[]): Said {
  const document = parsed(lines.map(({ text }) => text).join('\n'));
  const [at] = lines.slice(-1);
  const hasText = pieceOf(document) !== '';
  const [usage, stats] = [document?.['usage'], document?.['timings'] ?? document?.['generation_stats']];
  return {
    isStream: false,
    pieces: hasText && at !== undefined ? [at.atMs] : [],
    usage: isFound(usage) ? usage : undefined,
    stats: isFound(stats) ? stats : undefined,
  };
}

function parsed(text: string): Found {
  try {
    const value: unknown = JSON.parse(text);
    return isFound(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a piece; a model that thinks aloud says it under another name, and generates all the same. */
function pieceOf(document: Found): string {
  const choices = document?.['choices'];
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isFound(choice)) return '';
  const carrier = [choice['delta'], choice['message']].find(isFound);
  return (
    ['content', 'reasoning_content', 'reasoning'].map((key) => textOf(carrier, key)).join('') || textOf(choice, 'text')
  );
}

type Span = Pick<TimedAnswer, 'startedAtMs' | 'endedAtMs'>;

function timed({ pieces, isStream, usage, stats }: Said, span: Span): TimedAnswer {
  const counted =
    numberOf(stats, 'predicted_n') ?? numberOf(stats, 'generation_tokens') ?? numberOf(usage, 'completion_tokens');
  const tokens = counted ?? pieces.length;
  const promptTokens =
    numberOf(stats, 'prompt_n') ?? numberOf(stats, 'prompt_tokens') ?? numberOf(usage, 'prompt_tokens');
  const firstTokenMs = isStream ? Math.max(0, (pieces[0] ?? 0) - span.startedAtMs) : undefined;
  const promptSpeed =
    speed(numberOf(stats, 'prompt_per_second') ?? numberOf(stats, 'prompt_tps')) ??
    perSecond(promptTokens, firstTokenMs);
  const generationSpeed =
    speed(numberOf(stats, 'predicted_per_second') ?? numberOf(stats, 'generation_tps')) ??
    perSecond(pieces.length > 1 ? tokens - 1 : undefined, (pieces.at(-1) ?? 0) - (pieces[0] ?? 0));
  return {
    ...span,
    tokens,
    isCounted: counted !== undefined,
    ...given({ firstTokenMs, promptTokens, promptSpeed, generationSpeed }),
  };
}

/** llama-server tells a speed of nothing as infinite, which JSON has no word for, or as 0. */
const speed = (value: number | undefined): number | undefined => (value !== undefined && value > 0 ? value : undefined);

function perSecond(count: number | undefined, ms: number | undefined): number | undefined {
  if (count === undefined || ms === undefined || count <= 0 || ms <= 0) return undefined;
  return (count * 1_000) / ms;
}

/** A JSON object whose keys nobody has judged yet, or nothing. */
type Found = Readonly<Record<string, unknown>> | undefined;

/** Whether a value is a JSON object. */
const isFound = (value: unknown): value is NonNullable<Found> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A number of an object; undefined when there is none there. */
function numberOf(found: Found, key: string): number | undefined {
  const value = found?.[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A text of an object; empty when there is none there. */
function textOf(found: Found, key: string): string {
  const value = found?.[key];
  return typeof value === 'string' ? value : '';
}
