import { performance } from 'node:perf_hooks';
import type { Session } from '../../apply/reach/session.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { withQuestion } from '../../drivers/contract/chat-request.ts';
import type { TokenRequest } from '../../drivers/contract/driver.ts';
import { exitText, isSuccess } from '../../model/exit.ts';
import { readStream, type StreamReading, type TimedPiece } from '../../node/endpoint/read-stream.ts';
import { streamCommand } from '../../node/endpoint/stream-endpoint.ts';

/** Where and how long a placement is asked. */
export interface BenchTarget {
  readonly session: Session;
  readonly port: number;
  /** What makes the endpoint give one token. */
  readonly request: TokenRequest;
  readonly deadlineMs: number;
}

/** One question. */
export interface BenchQuestion {
  readonly text: string;
  readonly maxTokens: number;
}

/** An answer is text; more than this is no answer of a model. */
const maxBytes = 16_777_216;
/** Beyond curl's own deadline, so that curl can say itself that it passed. */
const graceMs = 5_000;

/**
 * The document that asks a question and wants the answer as a stream: a chat, or a prompt where the endpoint is the
 * older one that takes no chat.
 *
 * @see OpenAI API reference, Chat Completions and Completions
 */
export function questionBody(request: TokenRequest, { text, maxTokens }: BenchQuestion) {
  return {
    ...withQuestion(request, text),
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Asks once, on the leader itself, and times the pieces of the answer as they arrive here. */
export async function askStreamed(target: BenchTarget, { text, maxTokens }: BenchQuestion): Promise<StreamReading> {
  const { session, port, request, deadlineMs } = target;
  const body = questionBody(request, { text, maxTokens });
  const pieces: TimedPiece[] = [];
  const decoder = new TextDecoder();
  const asked = await session.ask((rootPrefix) => ({
    name: 'bench',
    command: streamCommand({ port, path: request.path, deadlineSeconds: deadlineMs / 1_000, rootPrefix }),
    stdin: Buffer.from(JSON.stringify(body)),
    deadlineMs: deadlineMs + graceMs,
    maxBytes,
    onOutput: (stream, piece) => {
      if (stream === 'stdout') {
        pieces.push({ atMs: performance.now(), text: decoder.decode(piece, { stream: true }) });
      }
    },
  }));
  if (asked.kind === 'unreached') return { kind: 'none', reason: plainText(asked.diagnostics[0].detail) };
  const { exit } = asked.result;
  const read = readStream(pieces);
  // What curl says of the endpoint tells more than how curl ended.
  return isSuccess(exit) || read.kind === 'none'
    ? read
    : { kind: 'none', reason: `curl ended early: ${exitText(exit)}` };
}
