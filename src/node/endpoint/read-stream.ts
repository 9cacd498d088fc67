import { jsonObject, parsedJson } from '../../model/digest.ts';
import { given } from '../../model/given.ts';

/** A piece of output and its arrival time. All pieces must use the same clock. */
export interface TimedPiece {
  readonly atMs: number;
  readonly text: string;
}

export interface MeasuredAnswer {
  /** Times when the request started and when its last byte arrived, on the pieces' clock. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Time from the start to the first piece of text; absent if the answer is one document. */
  readonly firstTokenMs?: number;
  /** Number of generated tokens: the runtime's count, or the number of text pieces. */
  readonly tokens: number;
  readonly isCounted: boolean;
  /** Number of prompt tokens; absent if the runtime does not report them. */
  readonly promptTokens?: number;
  /** Tokens per second: the runtime's value, or computed from arrival times; absent if neither is possible. */
  readonly promptSpeed?: number;
  readonly generationSpeed?: number;
}

/** An answer with its times; or a reason that continues "no answer: …". */
export type StreamReading =
  | { readonly kind: 'answer'; readonly answer: MeasuredAnswer }
  | { readonly kind: 'none'; readonly reason: string };

/** Values from an answer's documents; later values win. */
interface Said {
  readonly pieces: readonly number[];
  readonly isStream: boolean;
  readonly usage: Found;
  readonly stats: Found;
}

const none = (reason: string): StreamReading => ({ kind: 'none', reason });

/**
 * Reads a response to `stream: true`: server-sent events, or one JSON document from a runtime that does not stream.
 * Speeds are those that the runtime reports (`timings` of llama-server, the comment `generation_stats` of exo);
 * otherwise they are computed from arrival times. Never throws.
 */
export function readStream(pieces: readonly TimedPiece[]): StreamReading {
  const lines = linesOf(pieces);
  const last = lines.at(-1);
  const end = /^(\d{3}) (\d+(?:\.\d+)?)$/.exec(last?.text ?? '');
  if (last === undefined || end === null) return none('curl did not finish normally');
  const [status, seconds] = [Number(end[1]), Number(end[2])];
  if (status === 0) return none('the endpoint did not answer before the deadline');
  if (status !== 200) return none(`the endpoint returned status ${status}`);
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
  const found = (key: string): Found =>
    documents.map(({ document }) => jsonObject(document?.[key])).findLast((one) => one);
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
    usage: jsonObject(usage),
    stats: jsonObject(stats),
  };
}

const parsed = (text: string): Found => jsonObject(parsedJson(text));

/** The text of a piece. Thinking has a different key, but counts as generated text. */
function pieceOf(document: Found): string {
  const choices = document?.['choices'];
  const choice = jsonObject(Array.isArray(choices) ? choices[0] : undefined);
  const carrier = jsonObject(choice?.['delta']) ?? jsonObject(choice?.['message']);
  return (
    ['content', 'reasoning_content', 'reasoning'].map((key) => textOf(carrier, key)).join('') || textOf(choice, 'text')
  );
}

function timed(
  { pieces, isStream, usage, stats }: Said,
  span: Pick<MeasuredAnswer, 'startedAtMs' | 'endedAtMs'>,
): MeasuredAnswer {
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

/** If it generated nothing, llama-server reports an infinite speed, which JSON cannot express, or 0. */
const speed = (value: number | undefined): number | undefined => (value !== undefined && value > 0 ? value : undefined);

function perSecond(count: number | undefined, ms: number | undefined): number | undefined {
  if (count === undefined || ms === undefined || count <= 0 || ms <= 0) return undefined;
  return (count * 1_000) / ms;
}

type Found = ReturnType<typeof jsonObject>;

function numberOf(found: Found, key: string): number | undefined {
  const value = found?.[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function textOf(found: Found, key: string): string {
  const value = found?.[key];
  return typeof value === 'string' ? value : '';
}
