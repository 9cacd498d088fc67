import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { jsonObject, parsedJson } from '../model/digest.ts';
import { gatewayKeyDomain, ownHeader } from '../model/gateway.ts';
import { type FileSight, watchedFile } from './watched-file.ts';

/** Key hashes of 32 bytes each; `anybody` if no key is needed. */
export type AcceptedKeys = readonly Buffer[] | 'anybody';

/** Parses a key file. If the file is missing or invalid, no key is accepted. */
export function parseKeys(sight: FileSight): AcceptedKeys {
  if (sight.kind !== 'text') return [];
  const keys = jsonObject(parsedJson(sight.text))?.['keys'];
  if (keys === 'anybody') return keys;
  if (!Array.isArray(keys)) return [];
  const hashes = keys.filter((one) => typeof one === 'string' && /^[0-9a-f]{64}$/.test(one));
  return hashes.map((one) => Buffer.from(one, 'hex'));
}

/** Checks whether a request contains the node's secret, which is read from a file. Without it, no request passes. */
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

/** The key of a request, from either of the two headers that clients use; undefined if the request has no key. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const other = headers['x-api-key'];
  return bearer ?? (typeof other === 'string' && other !== '' ? other : undefined);
}

/** Hashes a key for comparison; undefined if there is no key. */
export const hashOfKey = (key: string | undefined): Buffer | undefined =>
  key === undefined ? undefined : createHash('sha256').update(gatewayKeyDomain).update(key).digest();

/** Checks whether a key is accepted. The time taken does not reveal how close the key is to a valid one. */
export function isOpenedBy(hash: Buffer | undefined, keys: AcceptedKeys): boolean {
  if (keys === 'anybody') return true;
  return hash !== undefined && keys.map((one) => timingSafeEqual(one, hash)).includes(true);
}
