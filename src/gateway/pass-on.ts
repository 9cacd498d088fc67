import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, refusals } from './answers.ts';
import type { BodyRoom } from './body/body-room.ts';
import { lacksMember, wrongForm } from './body/field-forms.ts';
import { hasRemoteImage, type Members } from './body/json-members.ts';
import { type BodyLimits, type RequestBody, readBody } from './body/read-body.ts';
import type { Endpoint } from './endpoints.ts';
import type { AnswerLimits } from './forward.ts';
import { passToReplica, type Way } from './replicas/lanes.ts';
import type { Miss } from './replicas/spread.ts';

export interface Passing {
  readonly response: ServerResponse;
  readonly limits: BodyLimits & AnswerLimits;
  /** The memory for request bodies, shared by all requests. */
  readonly room: BodyRoom;
  /** Aborted when the gateway is asked to stop; waiting requests are then refused. */
  readonly leaving: AbortSignal;
}

/**
 * Forwards a request to its model's runtime when its turn comes. Returns a refusal if the request was not accepted;
 * undefined if a response has been sent or the client has disconnected.
 */
export async function passOn(
  request: IncomingMessage,
  path: string,
  open: readonly Endpoint[],
  passing: Passing,
): Promise<Refusal | undefined> {
  const arrivedAtMs = performance.now();
  const gone = clientGone(passing.response);
  const placements = open.map(({ upstream }) => upstream.placement);
  const body = await readBody(request, { ...passing, placements, gone });
  if (body.kind === 'gone') return undefined;
  if (body.kind !== 'object') return bodyRefusal(body, passing.limits.mostBodyBytes);
  try {
    return await passBody({ request, path, body, arrivedAtMs, gone }, open, passing);
  } finally {
    body.free();
  }
}

interface Passed {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly body: Pick<Extract<RequestBody, { kind: 'object' }>, 'contents' | 'free'>;
  readonly arrivedAtMs: number;
  readonly gone: AbortSignal;
}

const membersOf = ({ contents }: Passed['body']): Members => contents()?.members ?? new Map();

async function passBody(
  { request, path, body, arrivedAtMs, gone }: Passed,
  open: readonly Endpoint[],
  { response, limits, leaving }: Passing,
): Promise<Refusal | undefined> {
  // No variable may keep the contents in memory, because the response can take far longer than the request.
  const endpoint = await checkedEndpoint(membersOf(body), path, open);
  if ('status' in endpoint) return endpoint;
  const way: Way = {
    endpoint,
    path,
    headers: request.headers,
    bodyFor: (model) => bodyFor(endpoint, membersOf(body), model),
    freeBody: body.free,
    isStreamed: textOf(membersOf(body), 'stream') === 'true',
    arrivedAtMs,
    response,
    gone,
    leaving,
    limits,
  };
  const miss = await passToReplica(way);
  return miss && refusalOf(miss, endpoint);
}

/** Finds the endpoint of the model that the body names; returns a refusal if the endpoint does not accept the body. */
async function checkedEndpoint(body: Members, path: string, open: readonly Endpoint[]): Promise<Endpoint | Refusal> {
  const endpoint = endpointOf(body, open);
  if ('status' in endpoint) return endpoint;
  const { servedName, paths, refusedFields = [], forms = {}, fetchesImages } = endpoint.upstream;
  if (paths !== undefined && !paths.includes(path)) return refusals.missingPath(path, servedName, paths);
  const field = refusedFields.find((name) => !isNull(body.get(name)));
  if (field !== undefined) return refusals.refusedField(field, servedName);
  for (const [name, form] of Object.entries(forms)) {
    const value = body.get(name);
    const wanted = value === undefined || isNull(value) ? undefined : wrongForm(value, form);
    if (wanted !== undefined) return refusals.wrongValue(name, wanted);
  }
  return fetchesImages === true && (await hasImageIn(body)) ? refusals.remoteImage() : endpoint;
}

/** Counts a refusal and returns it for the client. */
function refusalOf({ kind, reason }: Miss, { upstream: { servedName }, count }: Endpoint): Refusal | undefined {
  const isDown = kind === 'down';
  if (kind === 'gone') return undefined;
  count((counts) => (isDown ? { ...counts, failed: counts.failed + 1 } : { ...counts, refused: counts.refused + 1 }));
  if (kind === 'leaving') return refusals.leaving();
  if (kind === 'full') return refusals.tooMany(servedName);
  return isDown ? refusals.down(servedName, reason) : refusals.closed(servedName, reason);
}

/** The value of a member, as the JSON that the client sent. */
const textOf = (body: Members, name: string): string | undefined => body.get(name)?.toString('utf8');

const nullBytes = Buffer.from('null');

/** True if a field is missing or null. */
const isNull = (value: Buffer | undefined): boolean => value === undefined || value.equals(nullBytes);

/** Searches for remote images in the messages of a chat and in the input of the Responses API. */
const hasImageIn = async (body: Members): Promise<boolean> => {
  for (const name of ['messages', 'input']) {
    const value = body.get(name);
    if (value !== undefined && (await hasRemoteImage(value))) return true;
  }
  return false;
};

/**
 * Some clients send null for fields that are not set. A runtime may reject null, or treat it as a value that differs
 * from the default and reload the model, so nulls are left out. The values are the client's own bytes, not copies.
 */
function bodyFor({ upstream }: Endpoint, body: Members, model: string): readonly Buffer[] {
  const { refusedFields = [], forms = {}, refusesNull } = upstream;
  const isLeftOut = (name: string, value: Buffer): boolean =>
    name === 'model' ||
    refusedFields.includes(name) ||
    (refusesNull === true && isNull(value)) ||
    lacksMember(value, forms[name]);
  const members = [...body].filter((member) => !isLeftOut(...member));
  const parts = members.flatMap(([name, value]) => [Buffer.from(`${JSON.stringify(name)}:`), value, Buffer.from(',')]);
  return [Buffer.from('{'), ...parts, Buffer.from(`"model":${JSON.stringify(model)}}`)];
}

export function bodyRefusal({ kind }: Exclude<RequestBody, { kind: 'object' }>, mostBytes: number): Refusal {
  if (kind === 'too-large') return refusals.tooLarge(mostBytes);
  if (kind === 'no-room') return refusals.noRoom();
  return kind === 'not-json' ? refusals.notJson() : refusals.badBody();
}

function endpointOf(body: Members, open: readonly Endpoint[]): Endpoint | Refusal {
  const names = open.map(({ upstream }) => upstream.servedName);
  const text = textOf(body, 'model') ?? '';
  const model: string = text.startsWith('"') ? JSON.parse(text) : '';
  if (model === '') return refusals.noModel(names);
  return open.find(({ upstream }) => upstream.servedName === model) ?? refusals.unknownModel(model, names);
}

/** Returns a signal that aborts if the client's connection closes before the response is complete. */
export function clientGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abortUnlessFinished = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) abortUnlessFinished();
  else response.once('close', abortUnlessFinished);
  return controller.signal;
}
