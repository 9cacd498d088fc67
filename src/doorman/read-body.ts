import type { IncomingMessage } from 'node:http';

/** The body of a request as a JSON object, or what is wrong with it. */
export type RequestBody =
  | { readonly kind: 'object'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'too-large' | 'not-json' | 'bad' | 'gone' };

/** Reads a body of up to `mostBytes`; what is larger is not kept. Never throws. */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<RequestBody> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') return { kind: 'not-json' };
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) return { kind: 'too-large' };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      size += chunk.length;
      if (size > mostBytes) return { kind: 'too-large' };
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'gone' };
  }
  return parseObject(Buffer.concat(chunks).toString('utf8'));
}

function parseObject(text: string): RequestBody {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { kind: 'object', value: value as Readonly<Record<string, unknown>> } : { kind: 'bad' };
  } catch {
    return { kind: 'bad' };
  }
}
