import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, refusals } from './answers.ts';
import type { BodyRoom } from './body-room.ts';
import { withAnswer } from './counts.ts';
import type { Endpoint } from './endpoints.ts';
import { type Forwarded, forward } from './forward.ts';
import type { Members } from './json-members.ts';
import { type BodyLimits, type RequestBody, readBody } from './read-body.ts';

/** Everything that a forwarded request needs. */
export interface Passing {
  readonly response: ServerResponse;
  readonly limits: BodyLimits & { readonly silentMs: number };
  /** Shared by all requests. */
  readonly room: BodyRoom;
  /** Aborted when the gateway is asked to stop: waiting requests are refused. */
  readonly leaving: AbortSignal;
}

/**
 * Passes a request for text on to the runtime that it names, when it is its turn. Gives the refusal that is still to be
 * sent; undefined when the answer has been passed back, or nobody is there to take one.
 */
export async function passOn(
  request: IncomingMessage,
  path: string,
  open: readonly Endpoint[],
  passing: Passing,
): Promise<Refusal | undefined> {
  const arrivedAtMs = performance.now();
  const gone = clientGone(passing.response);
  const body = await readBody(request, { ...passing, gone });
  if (body.kind === 'gone') return undefined;
  if (body.kind !== 'object') return bodyRefusal(body, passing.limits.mostBodyBytes);
  try {
    return await passBody({ request, path, body: body.members, arrivedAtMs, gone }, open, passing);
  } finally {
    body.free();
  }
}

interface Passed {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly body: Members;
  readonly arrivedAtMs: number;
  readonly gone: AbortSignal;
}

async function passBody(
  { request, path, body, arrivedAtMs, gone }: Passed,
  open: readonly Endpoint[],
  { response, limits, leaving }: Passing,
): Promise<Refusal | undefined> {
  const door = doorOf(body, open);
  if ('status' in door) return door;
  const { servedName, refusedFields = [] } = door.upstream;
  const field = refusedFields.find((name) => (textOf(body, name) ?? 'null') !== 'null');
  if (field !== undefined) return refusals.refusedField(field, servedName);
  const turn = await takeTurn(door, gone, leaving);
  if (turn === 'gone') return undefined;
  if ('status' in turn) {
    door.count((counts) => ({ ...counts, refused: counts.refused + 1 }));
    return turn;
  }
  const passage = door.flow.begin(textOf(body, 'stream') === 'true');
  try {
    const outcome = await forward({
      upstream: door.upstream,
      path,
      accept: request.headers.accept ?? '*/*',
      body: bodyFor(door, body),
      response,
      gone,
      silentMs: limits.silentMs,
      now: () => performance.now(),
      passage,
    });
    return accountFor(outcome, door, arrivedAtMs);
  } finally {
    passage.end();
    turn.giveBack();
  }
}

/** A member as the JSON in which it came. */
const textOf = (body: Members, name: string): string | undefined => body.get(name)?.toString('utf8');

/**
 * Clients send null for what they leave open. A runtime may take that for another value than its default, and load its
 * model anew for it: such a field is left out. Values are the bytes of the client, not copies.
 */
function bodyFor({ upstream: { model, refusedFields = [] } }: Endpoint, body: Members): readonly Buffer[] {
  const kept = [...body].filter(([name]) => name !== 'model' && !refusedFields.includes(name));
  const parts = kept.flatMap(([name, value]) => [Buffer.from(`${JSON.stringify(name)}:`), value, Buffer.from(',')]);
  return [Buffer.from('{'), ...parts, Buffer.from(`"model":${JSON.stringify(model)}}`)];
}

/** Why a body is not passed on. */
export function bodyRefusal({ kind }: Exclude<RequestBody, { kind: 'object' }>, mostBytes: number): Refusal {
  if (kind === 'too-large') return refusals.tooLarge(mostBytes);
  if (kind === 'no-room') return refusals.noRoom();
  return kind === 'not-json' ? refusals.notJson() : refusals.badBody();
}

function doorOf(body: Members, open: readonly Endpoint[]): Endpoint | Refusal {
  const names = open.map(({ upstream }) => upstream.servedName);
  const text = textOf(body, 'model') ?? '';
  const model: string = text.startsWith('"') ? JSON.parse(text) : '';
  if (model === '') return refusals.noModel(names);
  return open.find(({ upstream }) => upstream.servedName === model) ?? refusals.unknownModel(model, names);
}

/** A signal that is aborted when the connection ends before the answer has. */
export function clientGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const look = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) look();
  else response.once('close', look);
  return controller.signal;
}

type Admission = { readonly giveBack: () => void } | Refusal | 'gone';

/** Whoever was let in stays inside while it waits for its turn, and is served even when the door is closed meanwhile. */
async function takeTurn(door: Endpoint, gone: AbortSignal, leaving: AbortSignal): Promise<Admission> {
  const { servedName } = door.upstream;
  const before = await door.closedBy();
  if (before !== undefined) return refusals.closed(servedName, before);
  const turnedAway = new AbortController();
  const coming = door.turns.take(AbortSignal.any([gone, leaving, turnedAway.signal]));
  // Only from here on it counts as inside: the door may have been closed since the first look.
  const after = await door.closedBy();
  if (after !== undefined) turnedAway.abort();
  const turn = await coming;
  if (turn !== undefined && after === undefined && !gone.aborted && !leaving.aborted) return turn;
  turn?.giveBack();
  if (gone.aborted) return 'gone';
  if (leaving.aborted) return refusals.leaving();
  return after === undefined ? refusals.tooMany(servedName) : refusals.closed(servedName, after);
}

function accountFor(outcome: Forwarded, door: Endpoint, arrivedAtMs: number): Refusal | undefined {
  if (outcome.kind === 'answered') {
    const { tokens, firstAtMs, endAtMs } = outcome;
    const times =
      firstAtMs === undefined ? {} : { firstTokenMs: firstAtMs - arrivedAtMs, generatingMs: endAtMs - firstAtMs };
    door.count((counts) => withAnswer(counts, { tokens, ...times }));
    return undefined;
  }
  door.count((counts) => ({ ...counts, failed: counts.failed + 1 }));
  return outcome.kind === 'down' ? refusals.down(door.upstream.servedName, outcome.reason) : undefined;
}
