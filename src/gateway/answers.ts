import type { ServerResponse } from 'node:http';
import { jsonObject, parsedJson } from '../model/digest.ts';
import type { RuntimeApi } from '../model/gateway.ts';

/** A response from the gateway itself: status, JSON body, and when to retry. */
export interface PlainAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterSeconds?: number;
  /** The error code if the request is refused. */
  readonly refused?: string;
}

/** The header that marks the gateway's own refusals; a runtime's errors lack it. */
export const refusedHeader = 'meshwright-refused';

/** Why a request is refused, with the fields of an OpenAI API error. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly param?: string;
  readonly retryAfterSeconds?: number;
}

const refusalTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  503: 'unavailable_error',
};

/** Turns a refusal into a response. @see https://platform.openai.com/docs/guides/error-codes */
export const refusalAnswer = ({ status, retryAfterSeconds, message, code, param }: Refusal): PlainAnswer => ({
  status,
  body: { error: { message, type: refusalTypes[status] ?? 'invalid_request_error', param: param ?? null, code } },
  refused: code,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

/** Sends a response. If a response has already started, drops the connection so that the client notices the failure. */
export function sendAnswer(response: ServerResponse, { status, body, retryAfterSeconds, refused }: PlainAnswer): void {
  if (response.headersSent) {
    breakConnection(response);
    return;
  }
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(refused === undefined ? {} : { [refusedHeader]: refused }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
  response.end(text);
}

/** Drops the connection mid-response. Without a length (HTTP/1.0), only a reset shows that bytes are missing. */
export function breakConnection(response: ServerResponse): void {
  if (response.req?.httpVersion === '1.0') response.socket?.resetAndDestroy();
  response.destroy();
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/**
 * Converts a runtime's error to the OpenAI API's format; returns only its message if the runtime cannot currently
 * serve any request. Some runtimes send 404 for every failure; clients do not retry after 404.
 */
export function errorAnswer(status: number, text: string, { paths, deadError }: RuntimeApi): PlainAnswer | string {
  const document = parsedJson(text);
  const message = messageIn(document) ?? (text.trim().slice(0, longestMessage) || `The runtime returned ${status}.`);
  if (status === 503 || (deadError !== undefined && message.startsWith(deadError))) return message;
  const isWrapped = typeof jsonObject(jsonObject(document)?.['error'])?.['message'] === 'string';
  const known = status === 404 && paths !== undefined ? 400 : status;
  const type = errorTypes[known] ?? (known < 500 ? 'invalid_request_error' : 'server_error');
  return { status: known, body: isWrapped ? document : { error: { message, type, param: null, code: null } } };
}

const longestMessage = 2_000;

/** Finds the message in OpenAI's `{"error": {"message": …}}`, mlx_lm's `{"error": …}` or FastAPI's `{"detail": …}`. */
function messageIn(document: unknown): string | undefined {
  const { error, detail, message } = jsonObject(document) ?? {};
  const all = [jsonObject(error)?.['message'], error, detail, message];
  return all.find((one): one is string => typeof one === 'string' && one !== '')?.slice(0, longestMessage);
}

/** An error message quotes at most this many characters of a model name that a client sent. */
const longestName = 200;

const someNames = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));

const refusal = (
  status: number,
  code: string,
  message: string,
  more: Pick<Refusal, 'param' | 'retryAfterSeconds'> = {},
): Refusal => ({ status, code, message, ...more });

const busy = (message: string, retryAfterSeconds: number) =>
  refusal(429, 'too_many_requests', message, { retryAfterSeconds });

const unknownUrl = (message: string) => refusal(404, 'unknown_url', message);

export const refusals = {
  noKey: () =>
    refusal(401, 'invalid_api_key', 'The API key is missing or wrong. Send it as `Authorization: Bearer KEY`.'),
  unknownModel(asked: string, names: readonly string[]) {
    const name = JSON.stringify(asked.slice(0, longestName));
    const message = `There is no model ${name} here. There is: ${someNames(names)}.`;
    return refusal(404, 'model_not_found', message, { param: 'model' });
  },
  noModel: (names: readonly string[]) =>
    refusal(400, 'model_required', `The request names no model. There is: ${someNames(names)}.`, { param: 'model' }),
  refusedField(param: string, servedName: string) {
    const message = `${param} is not accepted: a request cannot change ${servedName}.`;
    return refusal(400, 'unsupported_parameter', message, { param });
  },
  wrongValue: (param: string, wanted: string) =>
    refusal(400, 'invalid_value', `${param} must be ${wanted}.`, { param }),
  remoteImage() {
    const message = 'Images must be part of the request, as a data: URL: this endpoint downloads nothing.';
    return refusal(400, 'remote_image', message, { param: 'messages' });
  },
  missingPath: (path: string, servedName: string, paths: readonly string[]) =>
    unknownUrl(`The runtime of ${servedName} does not have ${path}. It has: ${paths.join(', ')}.`),
  badUrl: () => refusal(400, 'invalid_url', 'The URL of the request is invalid.'),
  noSuchPath: (path: string) => unknownUrl(`There is nothing at ${path}.`),
  wrongMethod: (method: string) => refusal(405, 'method_not_allowed', `${method} is not allowed here.`),
  notJson: () => refusal(415, 'unsupported_media_type', 'The request must be JSON: Content-Type: application/json.'),
  badBody() {
    const message = 'The body of the request is not a JSON object of at most 256 fields and 512 levels.';
    return refusal(400, 'invalid_json', message);
  },
  tooLarge: (mostBytes: number) =>
    refusal(413, 'request_too_large', `The body of a request may have at most ${mostBytes} bytes.`),
  tooMany: (servedName: string) => busy(`Too many requests are waiting for ${servedName}.`, 5),
  noRoom: () => busy('Too many large requests are arriving already.', 10),
  closed: (servedName: string, reason: string) =>
    refusal(503, 'closed', `${servedName} is not accepting requests: ${reason}`, { retryAfterSeconds: 30 }),
  down: (servedName: string, reason: string) =>
    refusal(503, 'mesh_down', `${servedName} is down: ${reason}`, { retryAfterSeconds: 10 }),
  leaving: () => refusal(503, 'closed', 'The gateway is being restarted.', { retryAfterSeconds: 2 }),
};
