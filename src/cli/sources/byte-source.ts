import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Some bytes of a file and the size of the whole file, or why they cannot be had: the end of "FILE ". */
export type ReadBytes =
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly fileBytes: number }
  | { readonly kind: 'failed'; readonly why: string };

/** Where the files of a model lie. */
export interface ByteSource {
  /** Bytes from `from` up to `to`, fewer where the file ends before. */
  readonly read: (path: string, from: number, to: number) => Promise<ReadBytes>;
}

const failed = (why: string): ReadBytes => ({ kind: 'failed', why });

/** A folder of this computer. */
export const folderSource = (folder: string): ByteSource => ({
  read: async (path, from, to) => {
    try {
      return await readFrom(join(folder, path), from, to);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      return failed(code === 'ENOENT' || code === 'ENOTDIR' ? 'is not there' : `cannot be read (${code})`);
    }
  },
});

async function readFrom(path: string, from: number, to: number): Promise<ReadBytes> {
  // An ordinary open of a pipe waits for a writer without end.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) return failed('is no file');
    const bytes = new Uint8Array(Math.max(0, Math.min(to, found.size) - from));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
      if (bytesRead === 0) return failed('became shorter while it was read');
      filled += bytesRead;
    }
    return { kind: 'read', bytes, fileBytes: found.size };
  } finally {
    await file.close();
  }
}

/** A request that gave nothing for so long is given up. */
const requestMs = 20_000;

/** A server with files below this base, which ends in `/`; only ranges of bytes are asked for. */
export const urlSource = (base: string, signal: AbortSignal): ByteSource => ({
  read: async (path, from, to) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(requestMs)]);
    try {
      const url = new URL(path.split('/').map(encodeURIComponent).join('/'), base);
      const range = `bytes=${from}-${to - 1}`;
      const headers = { range, 'accept-encoding': 'identity' };
      const answer = await follow(url, { headers, signal: limit });
      return answer === undefined ? failed('is sent on where it is not fetched') : await readAnswer(answer, from, to);
    } catch (error) {
      signal.throwIfAborted();
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      return failed(isLate ? 'did not come in time' : `cannot be fetched${code === '' ? '' : ` (${code})`}`);
    }
  },
});

const mostRedirects = 5;

/** The answer behind redirects; undefined where there are too many, or where one leads away from https. */
async function follow(
  start: URL,
  options: { readonly headers: Record<string, string>; readonly signal: AbortSignal },
): Promise<Response | undefined> {
  let url = start;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const answer = await fetch(url.href, { ...options, redirect: 'manual' });
    const place = answer.headers.get('location');
    if (answer.status < 300 || answer.status > 399 || place === null) return answer;
    await answer.body?.cancel();
    const next = nextAddress(url, place);
    if (next === undefined) return undefined;
    url = next;
  }
  return undefined;
}

/** Where a redirect leads; undefined for an address that is none, or that is not https where the one before was. */
export function nextAddress(from: URL, place: string): URL | undefined {
  const next = URL.canParse(place, from.href) ? new URL(place, from) : undefined;
  return next?.protocol === 'https:' || next?.protocol === from.protocol ? next : undefined;
}

async function readAnswer(answer: Response, from: number, to: number): Promise<ReadBytes> {
  const isRange = answer.status === 206;
  const fileBytes = isRange
    ? Number(/\/(\d{1,16})$/.exec(answer.headers.get('content-range') ?? '')?.[1] ?? Number.NaN)
    : Number(answer.headers.get('content-length') ?? Number.NaN);
  const why =
    answer.status !== 200 && !isRange
      ? `is answered with HTTP ${answer.status}`
      : !isRange && from > 0
        ? 'comes from a server that gives no ranges'
        : Number.isSafeInteger(fileBytes)
          ? undefined
          : 'comes without its size';
  if (why !== undefined) {
    await answer.body?.cancel();
    return failed(why);
  }
  const bytes = await firstBytes(answer, Math.max(0, Math.min(to, fileBytes) - from));
  return bytes === undefined ? failed('ended before all of it had come') : { kind: 'read', bytes, fileBytes };
}

/** Exactly so many bytes of a body; what comes behind them is not waited for. */
async function firstBytes({ body }: Response, count: number): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(count);
  let filled = 0;
  const reader = body?.getReader();
  while (reader !== undefined && filled < count) {
    const { done, value } = await reader.read();
    if (done) break;
    const piece = value.subarray(0, count - filled);
    bytes.set(piece, filled);
    filled += piece.length;
  }
  await reader?.cancel();
  return filled === count ? bytes : undefined;
}
