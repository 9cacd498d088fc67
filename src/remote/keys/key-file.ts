import { constants } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { ParsedKey } from 'ssh2';
import { errorCodes, errorText } from '../error-text.ts';
import { loadSsh2 } from '../load-ssh2.ts';
import { wireFields } from './host-key.ts';

/** What a key file turned out to be. `publicBase64` is the wire form of its public half. */
export type KeyFile =
  | { readonly kind: 'private'; readonly path: string; readonly key: ParsedKey }
  | { readonly kind: 'encrypted'; readonly path: string; readonly publicBase64?: string }
  | { readonly kind: 'public'; readonly path: string; readonly publicBase64: string }
  | { readonly kind: 'unusable'; readonly path: string; readonly reason: string };

const maxBytes = 64 * 1024;

/** An ordinary open of a pipe waits for a writer without end. */
const unwaited = { encoding: 'latin1', flag: constants.O_RDONLY | constants.O_NONBLOCK } as const;

const magic = 'openssh-key-v1\0';

/** The public half of an OpenSSH private key file, which is readable even when the file is encrypted. */
function publicHalf(pem: string): string | undefined {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END/u.exec(pem)?.[1];
  const bytes = Buffer.from(body ?? '', 'base64');
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic) return undefined;
  let at = magic.length;
  const field = (): Buffer => {
    const length = bytes.length >= at + 4 ? bytes.readUInt32BE(at) : 0;
    const value = bytes.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    return value;
  };
  field(); // cipher
  field(); // key derivation
  field(); // its options
  at += 4; // number of keys, always one
  const blob = field();
  return wireFields(blob) === undefined || blob.length === 0 ? undefined : blob.toString('base64');
}

function isOpenToOthers(uid: number, mode: number): boolean {
  // The rule of ssh itself: only a file of one's own must be closed to group and others.
  return uid === process.getuid?.() && (mode & 0o077) !== 0;
}

async function publicBeside(path: string): Promise<string | undefined> {
  const text = await readFile(`${path}.pub`, unwaited).catch(() => '');
  return /^[a-z0-9@.-]+[ \t]+([A-Za-z0-9+/=]+)/u.exec(text)?.[1];
}

async function encryptedFile(path: string, text: string): Promise<KeyFile> {
  const publicBase64 = publicHalf(text) ?? (await publicBeside(path));
  return publicBase64 === undefined ? { kind: 'encrypted', path } : { kind: 'encrypted', path, publicBase64 };
}

async function judge(path: string, text: string): Promise<KeyFile> {
  const { utils } = await loadSsh2();
  const parsed = utils.parseKey(text);
  if (parsed instanceof Error) {
    if (/encrypted/iu.test(parsed.message) || text.includes('BEGIN ENCRYPTED PRIVATE KEY'))
      return encryptedFile(path, text);
    const isKey = text.includes('PRIVATE KEY-----');
    const reason = isKey ? `a key that the built-in client cannot use (${parsed.message})` : 'this is not a key file';
    return { kind: 'unusable', path, reason };
  }
  if (!parsed.isPrivateKey()) return { kind: 'public', path, publicBase64: parsed.getPublicSSH().toString('base64') };
  return parsed.type === 'ssh-dss'
    ? { kind: 'unusable', path, reason: 'DSA keys are broken and no longer accepted' }
    : { kind: 'private', path, key: parsed };
}

/** Reads a private key file, or says what is in the way. */
export async function readKeyFile(path: string): Promise<KeyFile> {
  try {
    const { uid, mode, size } = await stat(path);
    if (size > maxBytes) return { kind: 'unusable', path, reason: 'too long for a key file' };
    const file = await judge(path, await readFile(path, unwaited));
    if (file.kind === 'public' || !isOpenToOthers(uid, mode)) return file;
    return { kind: 'unusable', path, reason: `other users can read it; chmod 600 ${path}` };
  } catch (error) {
    if (errorCodes(error).length === 0) throw error;
    return { kind: 'unusable', path, reason: errorText(error) };
  }
}
