import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { BodyRoom } from './body-room.ts';
import { jsonMembers, type Members } from './json-members.ts';

/** The body of a request as a JSON object, or what is wrong with it. */
export type RequestBody =
  | {
      readonly kind: 'object';
      readonly bytes: Buffer;
      readonly members: Members;
      /** Returns its memory; to be called once, when the body has been sent on. */
      readonly free: () => void;
    }
  | { readonly kind: 'too-large' | 'not-json' | 'bad' | 'gone' | 'no-room' };

/** How much memory bodies may take. */
export interface BodyLimits {
  readonly mostBodyBytes: number;
  /** What every request gets at once; a larger body waits for its room, and is not read before. */
  readonly smallBodyBytes: number;
  /** For all larger bodies together. */
  readonly bodyRoomBytes: number;
  /** How long a body waits for its room. */
  readonly bodyRoomMs: number;
}

/** Reads a body within the limits. Never throws. @param gone aborted when the client is gone */
export async function readBody(
  request: IncomingMessage,
  { limits, room, gone }: { readonly limits: BodyLimits; readonly room: BodyRoom; readonly gone: AbortSignal },
): Promise<RequestBody> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') return { kind: 'not-json' };
  const { mostBodyBytes, smallBodyBytes, bodyRoomMs } = limits;
  const declared = Number(request.headers['content-length'] ?? mostBodyBytes);
  if (declared > mostBodyBytes) return { kind: 'too-large' };
  const chunks: Buffer[] = [];
  let size = 0;
  let free: (() => void) | undefined;
  const refuse = (kind: Exclude<RequestBody['kind'], 'object'>): RequestBody => {
    free?.();
    return { kind };
  };
  try {
    for await (const chunk of request) {
      size += chunk.length;
      if (size > mostBodyBytes) return refuse('too-large');
      const isLarge = size > smallBodyBytes;
      if (isLarge) free ??= await room.take(declared, AbortSignal.any([gone, AbortSignal.timeout(bodyRoomMs)]));
      if (isLarge && free === undefined) return refuse(gone.aborted ? 'gone' : 'no-room');
      chunks.push(chunk);
    }
  } catch {
    return refuse('gone');
  }
  const bytes = Buffer.concat(chunks.splice(0));
  const members = isUtf8(bytes) ? await jsonMembers(bytes) : undefined;
  return members === undefined ? refuse('bad') : { kind: 'object', bytes, members, free: free ?? (() => undefined) };
}
