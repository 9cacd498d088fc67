import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { doormanKeyDomain, ownHeader } from '../model/gateway.ts';
import { type FileSight, watchedFile } from './watched-file.ts';

/** Hashes of keys, 32 bytes each; `anybody` if no key is needed. */
export type AcceptedKeys = readonly Buffer[] | 'anybody';

/** The keys of a key file; none at all where it is missing or no such file: then the door stays shut. */
export function parseKeys(sight: FileSight): AcceptedKeys {
  if (sight.kind !== 'text') return [];
  const keys = keysField(sight.text);
  if (keys === 'anybody') return keys;
  if (!Array.isArray(keys)) return [];
  const hashes = keys.filter((one) => typeof one === 'string' && /^[0-9a-f]{64}$/.test(one));
  return hashes.map((one) => Buffer.from(one, 'hex'));
}

/** Tells whether a request has the secret of the node, which a file contains. Without the file, none has. */
export function ownCheck(path: string | undefined): (headers: IncomingHttpHeaders) => Promise<boolean> {
  const secrets = path === undefined ? async () => [] : watchedFile(path, parseOwnSecret);
  return async ({ [ownHeader]: secret }) =>
    typeof secret === 'string' && isOpenedBy(hashOfKey(secret), await secrets());
}

const ownLine = new RegExp(`^${ownHeader}: (\\S{40,})$`, 'm');

function parseOwnSecret(sight: FileSight): AcceptedKeys {
  const [, secret] = (sight.kind === 'text' && ownLine.exec(sight.text)) || [];
  const hash = hashOfKey(secret);
  return hash === undefined ? [] : [hash];
}

function keysField(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null && 'keys' in document ? document.keys : undefined;
  } catch {
    return undefined;
  }
}

/** The key that a request brings, by either of the two headers that clients use; undefined without one. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const other = headers['x-api-key'];
  return bearer ?? (typeof other === 'string' && other !== '' ? other : undefined);
}

/** What is compared of a key; undefined of none. */
export const hashOfKey = (key: string | undefined): Buffer | undefined =>
  key === undefined ? undefined : createHash('sha256').update(doormanKeyDomain).update(key).digest();

/**
 * Whether a key opens a door. How long it takes does not tell how much of a key was right, nor which of several it is
 * like: it is compared with all of them.
 */
export function isOpenedBy(hash: Buffer | undefined, keys: AcceptedKeys): boolean {
  if (keys === 'anybody') return true;
  return hash !== undefined && keys.map((one) => timingSafeEqual(one, hash)).includes(true);
}
