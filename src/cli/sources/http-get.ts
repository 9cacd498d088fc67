import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { systemCode } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import type { Run } from '../verb.ts';

export interface WebAccess {
  /** Certificate of the only trusted authority, for a simulated server; default: those of Node.js. */
  readonly ca?: string;
  readonly signal: AbortSignal;
  /** The time for an answer without its bytes, and for each pause in it. */
  readonly deadlineMs: number;
}

export const webAccess = ({ signal, options }: Pick<Run, 'signal' | 'options'>, ca?: string): WebAccess => ({
  signal,
  deadlineMs: options.deadline,
  ...given({ ca }),
});

export interface HttpQuestion {
  readonly headers: Readonly<Record<string, string>>;
  /** HEAD asks for the headers only; default: GET. */
  readonly method?: 'HEAD';
  /** A longer body is refused or, with `isCut`, cut off there. Default: unlimited. */
  readonly mostBytes?: number;
  readonly isCut?: true;
  /** Takes the parts of a body of status 200, which are then not kept. */
  readonly onPart?: (part: Buffer) => void;
}

export interface WebAnswer {
  readonly status: number;
  /** The first value of a header; the name is in lower case. */
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
}

/** No answer, with the reason as a phrase that follows the server's name. */
export interface NoAnswer {
  readonly why: string;
}

/** Bytes get time at this rate, 16 KiB per second. */
const leastBytesPerMs = 16.384;
const mostRedirects = 5;

/** Sends a request and follows redirects within https, without authorization to other hosts. Rejects if aborted. */
export async function httpGet(start: string, question: HttpQuestion, access: WebAccess): Promise<WebAnswer | NoAnswer> {
  let url = new URL(start);
  let sent = question;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const answer = await once(url, sent, access);
    if ('why' in answer || answer.status < 300 || answer.status > 399) return answer;
    const next = nextAddress(url, answer.header('location') ?? '');
    if (next === undefined) return { why: 'redirects away from https' };
    if (next.host !== url.host) {
      const { authorization: _, ...headers } = sent.headers;
      sent = { ...sent, headers };
    }
    url = next;
  }
  return { why: 'redirects too often' };
}

function once(url: URL, question: HttpQuestion, access: WebAccess): Promise<WebAnswer | NoAnswer> {
  const { ca, signal, deadlineMs } = access;
  const { headers, method, mostBytes = Number.POSITIVE_INFINITY, isCut, onPart } = question;
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      if (signal.aborted) reject(signal.reason);
      else resolve({ why: `cannot be reached (${systemCode(error) ?? 'connection failed'})` });
    };
    const all = { 'user-agent': 'meshwright', ...headers, 'accept-encoding': 'identity' };
    // A server that does not end its answers would block the next request on the same connection.
    const asked = request(url, { agent: false, headers: all, signal, ...given({ ca, method }) });
    const giveUp = (why: string): void => {
      resolve({ why });
      asked.destroy();
    };
    asked.setTimeout(deadlineMs, () => giveUp(`sent nothing for ${deadlineMs / 1000} s`));
    const began = performance.now();
    let size = 0;
    let timer: NodeJS.Timeout | undefined;
    const endIfSlow = (): void => {
      const leftMs = deadlineMs + size / leastBytesPerMs - (performance.now() - began);
      if (leftMs > 0) timer = setTimeout(endIfSlow, leftMs);
      else giveUp(`sent only ${size} bytes in ${Math.round((performance.now() - began) / 1000)} s`);
    };
    endIfSlow();
    asked.once('close', () => clearTimeout(timer));
    asked.once('error', fail);
    asked.once('response', (answer: IncomingMessage) => {
      const parts: Buffer[] = [];
      const whole = (): WebAnswer => ({
        status: answer.statusCode ?? 0,
        header: (name) => [answer.headers[name]].flat()[0],
        body: Buffer.concat(parts).subarray(0, mostBytes),
      });
      answer.on('data', (part: Buffer) => {
        size += part.length;
        if (onPart !== undefined && answer.statusCode === 200) onPart(part);
        else parts.push(part);
        if (isCut === true ? size < mostBytes : size <= mostBytes) return;
        if (isCut === true) resolve(whole());
        giveUp(`sent more than ${mostBytes} bytes`);
      });
      answer.once('error', fail);
      answer.once('end', () => resolve(answer.complete ? whole() : { why: 'broke off its answer' }));
    });
    asked.end();
  });
}

/** The target of a redirect; undefined if it is invalid or leaves https. */
export function nextAddress(from: URL, place: string): URL | undefined {
  const next = place !== '' && URL.canParse(place, from.href) ? new URL(place, from) : undefined;
  return next?.protocol === 'https:' || next?.protocol === from.protocol ? next : undefined;
}
