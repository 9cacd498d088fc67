import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, refusals } from './answers.ts';
import { withAnswer } from './counts.ts';
import type { Door } from './doors.ts';
import { type Forwarded, forward } from './forward.ts';
import { type RequestBody, readBody } from './read-body.ts';

/** What one request is passed on with. */
export interface Passing {
  readonly response: ServerResponse;
  readonly limits: { readonly mostBodyBytes: number; readonly silentMs: number };
  /** Aborted when the doorman is to end: who waits then is sent away. */
  readonly leaving: AbortSignal;
}

/**
 * Passes a request for text on to the runtime that it names, when it is its turn. Gives the refusal that is still to be
 * sent; undefined when the answer has been passed back, or nobody is there to take one.
 */
export async function passOn(
  request: IncomingMessage,
  path: string,
  open: readonly Door[],
  passing: Passing,
): Promise<Refusal | undefined> {
  const arrivedAtMs = performance.now();
  const body = await readBody(request, passing.limits.mostBodyBytes);
  if (body.kind === 'gone') return undefined;
  if (body.kind !== 'object') return bodyRefusal(body, passing.limits.mostBodyBytes);
  const door = doorOf(body.value['model'], open);
  if ('status' in door) return door;
  const { servedName, refusedFields = [] } = door.upstream;
  const field = refusedFields.find((name) => Object.hasOwn(body.value, name) && body.value[name] !== null);
  if (field !== undefined) return refusals.refusedField(field, servedName);
  const gone = clientGone(passing.response);
  const turn = await takeTurn(door, gone, passing.leaving);
  if (turn === 'gone') return undefined;
  if ('status' in turn) {
    door.count((counts) => ({ ...counts, refused: counts.refused + 1 }));
    return turn;
  }
  const passage = door.flow.begin(body.value['stream'] === true);
  try {
    const outcome = await forward({
      upstream: door.upstream,
      path,
      accept: request.headers.accept ?? '*/*',
      body: bodyFor(door, body.value),
      response: passing.response,
      gone,
      silentMs: passing.limits.silentMs,
      now: () => performance.now(),
      passage,
    });
    return accountFor(outcome, door, arrivedAtMs);
  } finally {
    passage.end();
    turn.giveBack();
  }
}

/**
 * Clients send null for what they leave open. A runtime may take that for another value than its default, and load its
 * model anew for it: such a field is left out.
 */
function bodyFor({ upstream: { model, refusedFields = [] } }: Door, value: Readonly<Record<string, unknown>>): Buffer {
  const kept = Object.entries(value).filter(([name]) => !refusedFields.includes(name));
  return Buffer.from(JSON.stringify({ ...Object.fromEntries(kept), model }));
}

/** Why a body is not passed on. */
export function bodyRefusal({ kind }: Exclude<RequestBody, { kind: 'object' }>, mostBytes: number): Refusal {
  if (kind === 'too-large') return refusals.tooLarge(mostBytes);
  return kind === 'not-json' ? refusals.notJson() : refusals.badBody();
}

function doorOf(model: unknown, open: readonly Door[]): Door | Refusal {
  const names = open.map(({ upstream }) => upstream.servedName);
  if (typeof model !== 'string' || model === '') return refusals.noModel(names);
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
async function takeTurn(door: Door, gone: AbortSignal, leaving: AbortSignal): Promise<Admission> {
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

function accountFor(outcome: Forwarded, door: Door, arrivedAtMs: number): Refusal | undefined {
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
