import type { ServerResponse } from 'node:http';
import { jsonObject, parsedJson } from '../model/digest.ts';
import type { RuntimeApi } from '../model/gateway.ts';

/** An answer of the gateway itself: status, JSON, and when to try again. */
export interface PlainAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterSeconds?: number;
  /** The code of a refusal. */
  readonly refused?: string;
}

/** The header of refusals by the gateway itself, which a runtime's errors lack. */
export const refusedHeader = 'meshwright-refused';

/** Why a request is not passed on, in the form of the OpenAI API. */
export interface Refusal {
  readonly status: number;
  readonly type: 'invalid_request_error' | 'authentication_error' | 'rate_limit_error' | 'unavailable_error';
  readonly code: string;
  readonly message: string;
  readonly param?: string;
  readonly retryAfterSeconds?: number;
}

/** A refusal as an answer. @see https://platform.openai.com/docs/guides/error-codes */
export const refusalAnswer = ({ status, retryAfterSeconds, message, type, code, param }: Refusal): PlainAnswer => ({
  status,
  body: { error: { message, type, param: param ?? null, code } },
  refused: code,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

/** Writes an answer. If an answer has already begun, cuts its connection, so that no client takes it as complete. */
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

/**
 * Cuts the connection of an incomplete answer. Without a length, as in HTTP/1.0, only a reset shows that bytes are
 * missing.
 */
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
 * A runtime's error in the form of the OpenAI API, or the reason as a text if the runtime cannot answer anything now.
 * Clients do not repeat a request after 404, which some runtimes send for every failure.
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

/** `{"error": {"message": …}}` of OpenAI, `{"error": …}` of mlx_lm, `{"detail": …}` of FastAPI. */
function messageIn(document: unknown): string | undefined {
  const { error, detail, message } = jsonObject(document) ?? {};
  const all = [jsonObject(error)?.['message'], error, detail, message];
  return all.find((one): one is string => typeof one === 'string' && one !== '')?.slice(0, longestMessage);
}

/** Of a name that a client sent, an answer repeats at most this many characters. */
const longestName = 200;

const someNames = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));

/** The gateway's refusals. */
export const refusals = {
  noKey: (): Refusal => ({
    status: 401,
    type: 'authentication_error',
    code: 'invalid_api_key',
    message: 'The API key is missing or wrong. Send it as `Authorization: Bearer KEY`.',
  }),
  unknownModel: (asked: string, names: readonly string[]): Refusal => ({
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: `There is no model ${JSON.stringify(asked.slice(0, longestName))} here. There is: ${someNames(names)}.`,
    param: 'model',
  }),
  noModel: (names: readonly string[]): Refusal => ({
    status: 400,
    type: 'invalid_request_error',
    code: 'model_required',
    message: `The request names no model. There is: ${someNames(names)}.`,
    param: 'model',
  }),
  refusedField: (field: string, servedName: string): Refusal => ({
    status: 400,
    type: 'invalid_request_error',
    code: 'unsupported_parameter',
    message: `${field} is not accepted: a request cannot change ${servedName}.`,
    param: field,
  }),
  wrongValue: (field: string, wanted: string): Refusal => ({
    status: 400,
    type: 'invalid_request_error',
    code: 'invalid_value',
    message: `${field} must be ${wanted}.`,
    param: field,
  }),
  remoteImage: (): Refusal => ({
    status: 400,
    type: 'invalid_request_error',
    code: 'remote_image',
    message: 'Images must be part of the request, as a data: URL: this endpoint downloads nothing.',
    param: 'messages',
  }),
  missingPath: (path: string, servedName: string, paths: readonly string[]): Refusal => ({
    status: 404,
    type: 'invalid_request_error',
    code: 'unknown_url',
    message: `The runtime of ${servedName} does not have ${path}. It has: ${paths.join(', ')}.`,
  }),
  badUrl: (): Refusal => ({
    status: 400,
    type: 'invalid_request_error',
    code: 'invalid_url',
    message: 'The URL of the request is invalid.',
  }),
  noSuchPath: (path: string): Refusal => ({
    status: 404,
    type: 'invalid_request_error',
    code: 'unknown_url',
    message: `There is nothing at ${path}.`,
  }),
  wrongMethod: (method: string): Refusal => ({
    status: 405,
    type: 'invalid_request_error',
    code: 'method_not_allowed',
    message: `${method} is not allowed here.`,
  }),
  notJson: (): Refusal => ({
    status: 415,
    type: 'invalid_request_error',
    code: 'unsupported_media_type',
    message: 'The request must be JSON: Content-Type: application/json.',
  }),
  badBody: (): Refusal => ({
    status: 400,
    type: 'invalid_request_error',
    code: 'invalid_json',
    message: 'The body of the request is not a JSON object of at most 256 fields and 512 levels.',
  }),
  tooLarge: (mostBytes: number): Refusal => ({
    status: 413,
    type: 'invalid_request_error',
    code: 'request_too_large',
    message: `The body of a request may have at most ${mostBytes} bytes.`,
  }),
  tooMany: (servedName: string): Refusal => ({
    status: 429,
    type: 'rate_limit_error',
    code: 'too_many_requests',
    message: `Too many requests are waiting for ${servedName}.`,
    retryAfterSeconds: 5,
  }),
  noRoom: (): Refusal => ({
    status: 429,
    type: 'rate_limit_error',
    code: 'too_many_requests',
    message: 'Too many large requests are arriving already.',
    retryAfterSeconds: 10,
  }),
  closed: (servedName: string, reason: string): Refusal => ({
    status: 503,
    type: 'unavailable_error',
    code: 'closed',
    message: `${servedName} is not accepting requests: ${reason}`,
    retryAfterSeconds: 30,
  }),
  down: (servedName: string, reason: string): Refusal => ({
    status: 503,
    type: 'unavailable_error',
    code: 'mesh_down',
    message: `${servedName} is down: ${reason}`,
    retryAfterSeconds: 10,
  }),
  leaving: (): Refusal => ({
    status: 503,
    type: 'unavailable_error',
    code: 'closed',
    message: 'The gateway is being restarted.',
    retryAfterSeconds: 2,
  }),
} as const;
