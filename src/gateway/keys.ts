import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { jsonObject, parsedJson } from '../model/digest.ts';
import { gatewayKeyDomain, ownHeader } from '../model/gateway.ts';
import { type FileSight, watchedFile } from './watched-file.ts';

/** Key hashes of 32 bytes each; `anybody` if no key is needed. */
export type AcceptedKeys = readonly Buffer[] | 'anybody';

/** The keys in a key file; none if the file is missing or invalid, so that the placement stays closed. */
export function parseKeys(sight: FileSight): AcceptedKeys {
  if (sight.kind !== 'text') return [];
  const keys = jsonObject(parsedJson(sight.text))?.['keys'];
  if (keys === 'anybody') return keys;
  if (!Array.isArray(keys)) return [];
  const hashes = keys.filter((one) => typeof one === 'string' && /^[0-9a-f]{64}$/.test(one));
  return hashes.map((one) => Buffer.from(one, 'hex'));
}

/** Tests whether a request contains the node's secret, which is in a file. Without the file, no request passes. */
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

/** A request's key, from either of the two headers that clients use; undefined without a key. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const other = headers['x-api-key'];
  return bearer ?? (typeof other === 'string' && other !== '' ? other : undefined);
}

/** A key's hash, for comparisons; undefined without a key. */
export const hashOfKey = (key: string | undefined): Buffer | undefined =>
  key === undefined ? undefined : createHash('sha256').update(gatewayKeyDomain).update(key).digest();

/**
 * Tests whether a key is accepted. The key is compared completely with every accepted key, so the duration reveals
 * neither how much of it is right nor which accepted key it resembles.
 */
export function isOpenedBy(hash: Buffer | undefined, keys: AcceptedKeys): boolean {
  if (keys === 'anybody') return true;
  return hash !== undefined && keys.map((one) => timingSafeEqual(one, hash)).includes(true);
}
