import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { withTimeLimit } from '../time-limit.ts';
import type { BodyRoom } from './body-room.ts';
import { jsonMembers, type Members } from './json-members.ts';

/** The body of a request as a JSON object, or the reason why it could not be read. */
export type RequestBody =
  | {
      readonly kind: 'object';
      /** The contents of the body; undefined once their memory has been freed. */
      readonly contents: () => { readonly bytes: Buffer; readonly members: Members } | undefined;
      /** Discards the contents and frees their memory, for example once the body has been forwarded. */
      readonly free: () => void;
    }
  | { readonly kind: 'too-large' | 'not-json' | 'bad' | 'gone' | 'no-room' };

/** Limits on the memory that request bodies may use. */
export interface BodyLimits {
  readonly mostBodyBytes: number;
  /** Every request gets this much memory immediately. A larger body is not read while it waits for memory. */
  readonly smallBodyBytes: number;
  /** As a larger body arrives, it gets memory in increments of this size. */
  readonly bodyStepBytes: number;
  /** The total amount of memory for larger bodies. */
  readonly bodyRoomBytes: number;
  /** The timeout for each increment of memory. */
  readonly bodyRoomMs: number;
}

/** Where a body's memory comes from. */
interface BodyPlace {
  readonly limits: BodyLimits;
  readonly room: BodyRoom;
  /** The placements to which the body may be forwarded. */
  readonly placements: readonly string[];
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
}

/** Reads a request body within the limits. Never throws. */
export async function readBody(
  request: IncomingMessage,
  { limits, room, placements, gone }: BodyPlace,
): Promise<RequestBody> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') return { kind: 'not-json' };
  const { mostBodyBytes, smallBodyBytes, bodyStepBytes, bodyRoomMs } = limits;
  const length = request.headers['content-length'];
  const most = Number(length ?? mostBodyBytes);
  if (most > mostBodyBytes) return { kind: 'too-large' };
  const chunks: Buffer[] = [];
  let size = 0;
  const account = room.open(placements);
  const refuse = (kind: Exclude<RequestBody['kind'], 'object'>): RequestBody => {
    account.free();
    return { kind };
  };
  let reached = smallBodyBytes;
  const hasRoom = (): Promise<boolean> => {
    reached = Math.min(most, Math.ceil(size / bodyStepBytes) * bodyStepBytes);
    const least = length === undefined ? reached : most;
    return withTimeLimit(bodyRoomMs, [gone], (signal) => account.reach(reached, least, signal));
  };
  try {
    for await (const chunk of request) {
      size += chunk.length;
      if (size > mostBodyBytes) return refuse('too-large');
      if (size > reached && !(await hasRoom())) return refuse(gone.aborted ? 'gone' : 'no-room');
      chunks.push(chunk);
    }
  } catch {
    return refuse('gone');
  }
  const bytes = Buffer.concat(chunks.splice(0));
  const members = isUtf8(bytes) ? await jsonMembers(bytes) : undefined;
  if (members === undefined) return refuse('bad');
  let contents: { readonly bytes: Buffer; readonly members: Members } | undefined = { bytes, members };
  const free = (): void => {
    contents = undefined;
    account.free();
  };
  return { kind: 'object', contents: () => contents, free };
}
