import { createHash, createHmac, createPublicKey } from 'node:crypto';
import type { HostKey } from '../../model/cluster-lock.ts';

const curves: Readonly<Record<string, { readonly crv: string; readonly bytes: number }>> = {
  nistp256: { crv: 'P-256', bytes: 32 },
  nistp384: { crv: 'P-384', bytes: 48 },
  nistp521: { crv: 'P-521', bytes: 66 },
};

/** Splits the length-prefixed fields of an SSH wire value; undefined when the lengths do not add up. */
export function wireFields(bytes: Buffer): readonly Buffer[] | undefined {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + 4 > bytes.length) return undefined;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    fields.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/** Decodes base64 as strictly as OpenSSH: blanks are skipped, anything else that is not canonical is refused. */
export function strictBase64(text: string): Buffer | undefined {
  const plain = text.replace(/[\t\n\v\f\r ]/gu, '');
  const bytes = Buffer.from(plain, 'base64');
  return plain !== '' && bytes.toString('base64') === plain ? bytes : undefined;
}

function isOnCurve(curve: string, point: Buffer): boolean {
  const shape = curves[curve];
  if (shape === undefined || point.length !== 1 + 2 * shape.bytes || point[0] !== 4) return false;
  const x = point.subarray(1, 1 + shape.bytes).toString('base64url');
  const y = point.subarray(1 + shape.bytes).toString('base64url');
  try {
    createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: shape.crv, x, y } });
    return true;
  } catch {
    return false;
  }
}

function positiveBits(mpint: Buffer | undefined): number {
  if (mpint === undefined || (mpint[0] ?? 0) >= 0x80) return 0;
  const hex = mpint.toString('hex').replace(/^0+/u, '');
  return hex === '' ? 0 : BigInt(`0x${hex}`).toString(2).length;
}

function isWellFormed(type: string, fields: readonly Buffer[]): boolean {
  const [first, second] = fields;
  if (type === 'ssh-ed25519') return fields.length === 1 && first?.length === 32;
  if (type === 'ssh-rsa') return fields.length === 2 && positiveBits(first) > 0 && positiveBits(second) >= 1024;
  if (type === 'ssh-dss') return fields.length === 4 && fields.every((field) => positiveBits(field) > 0);
  if (type === 'sk-ssh-ed25519@openssh.com') return fields.length === 2 && first?.length === 32;
  const curve = /^(?:sk-)?ecdsa-sha2-(nistp\d+)(?:@openssh\.com)?$/u.exec(type)?.[1];
  if (curve === undefined || first?.toString('latin1') !== curve || second === undefined) return false;
  return fields.length === (type.startsWith('sk-') ? 3 : 2) && isOnCurve(curve, second);
}

/** A host key from its wire form; undefined when OpenSSH would refuse to read it (wrong lengths, not on its curve, RSA below 1,024 bits). */
export function parseHostKey(blob: Buffer): HostKey | undefined {
  const fields = wireFields(blob);
  const type = fields?.[0]?.toString('latin1');
  if (fields === undefined || type === undefined || !isWellFormed(type, fields.slice(1))) return undefined;
  return { type, base64: blob.toString('base64') };
}

/** The fingerprint as `ssh-keygen -l` prints it: `SHA256:` and 43 characters. */
export function fingerprint(key: HostKey): string {
  const digest = createHash('sha256').update(Buffer.from(key.base64, 'base64')).digest('base64');
  return `SHA256:${digest.replace('=', '')}`;
}

/** One known_hosts file as it was read. */
export interface KnownHostsText {
  readonly file: string;
  readonly text: string;
}

/** What stands before the names of a line. */
type KnownHostsMarker = 'none' | 'cert-authority' | 'revoked';

/** A readable line of a known_hosts file that speaks of the name that was looked up. `line` counts from 1. */
export interface KnownHostsEntry extends HostKey {
  readonly file: string;
  readonly line: number;
  readonly marker: KnownHostsMarker;
}

/** A line whose names match and whose first word after them is a key type. `rest` is that word and what follows. */
interface MatchingLine {
  readonly line: number;
  readonly marker: KnownHostsMarker;
  readonly rest: string;
}

const plainTypes = new Set([
  'ssh-ed25519',
  'ssh-rsa',
  'ssh-dss',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
]);
/** Signature algorithms that OpenSSH takes for the name of an RSA key. */
const rsaWords = new Set(['rsa-sha2-256', 'rsa-sha2-512']);
const shortNames = new Set(['ed25519', 'rsa', 'dsa', 'ecdsa', 'ed25519-sk', 'ecdsa-sk']);
const certificate =
  /^(?:(?:sk-)?ssh-ed25519|ssh-rsa|ssh-dss|rsa-sha2-(?:256|512)|(?:sk-)?ecdsa-sha2-nistp\d+)-cert-v01@openssh\.com$/u;

const isTypeWord = (word: string): boolean =>
  plainTypes.has(word) || rsaWords.has(word) || shortNames.has(word.toLowerCase()) || certificate.test(word);

const markers: Readonly<Record<string, KnownHostsMarker>> = {
  '@cert-authority': 'cert-authority',
  '@revoked': 'revoked',
};

/** Takes a marker off the front; undefined for an unknown or a second one, which voids the line in OpenSSH. */
function takeMarker(text: string): { readonly marker: KnownHostsMarker; readonly rest: string } | undefined {
  if (!text.startsWith('@')) return { marker: 'none', rest: text };
  // OpenSSH ends a marker at the first blank of the line, and at a tab only when the line has no blank at all.
  const blank = text.indexOf(' ');
  const end = blank === -1 ? text.indexOf('\t') : blank;
  const marker = end === -1 ? undefined : markers[text.slice(0, end)];
  const rest = text.slice(end).replace(/^[ \t]+/u, '');
  return marker === undefined || rest.startsWith('@') ? undefined : { marker, rest };
}

/** Matches `*` and `?` without backtracking into earlier stars, so that a hostile file costs at most rows x columns. */
export function matchesPattern(text: string, pattern: string): boolean {
  let t = 0;
  let p = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      resume = t;
    } else if (pattern[p] === '?' || pattern[p] === text[t]) {
      p++;
      t++;
    } else if (star !== -1) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

function matchesList(name: string, list: string): boolean {
  let isMatch = false;
  for (const raw of list.toLowerCase().split(',')) {
    const isNegated = raw.startsWith('!');
    const pattern = isNegated ? raw.slice(1) : raw;
    if (pattern.length >= 1023) return false;
    if (!matchesPattern(name.toLowerCase(), pattern)) continue;
    if (isNegated) return false;
    isMatch = true;
  }
  return isMatch;
}

function matchesHash(name: string, hashed: string): boolean {
  const [, version, salt = '', digest = '', more] = hashed.split('|');
  if (version !== '1' || more !== undefined) return false;
  const key = strictBase64(salt);
  if (key?.length !== 20) return false;
  return createHmac('sha1', key).update(name).digest('base64') === digest;
}

function matchLine(name: string, raw: string, line: number): MatchingLine | undefined {
  const text = (raw.split('\0', 1)[0] ?? '').replace(/^[ \t]+/u, '');
  if (text.startsWith('#')) return undefined;
  const marked = takeMarker(text);
  if (marked === undefined) return undefined;
  const names = /^[^ \t]*/u.exec(marked.rest)?.[0] ?? '';
  const isMatch = names.startsWith('|') ? matchesHash(name, names) : matchesList(name, names);
  const rest = marked.rest.slice(names.length).replace(/^[ \t]+/u, '');
  const type = /^([^ \t]+)[ \t]+[^ \t#]/u.exec(rest)?.[1];
  return isMatch && type !== undefined && isTypeWord(type) ? { line, marker: marked.marker, rest } : undefined;
}

/** The lines of one file that `ssh-keygen -F name` finds, keys still unread, so a broken key is among them. */
export function matchingLines(name: string, text: string): readonly MatchingLine[] {
  const lines = text.split('\n');
  return lines.flatMap((raw, index) => matchLine(name, raw, index + 1) ?? []);
}

function parseKeyWords(rest: string): HostKey | undefined {
  const [type = '', base64 = ''] = rest.split(/[ \t]+/u);
  const blob = strictBase64(base64);
  const key = blob === undefined ? undefined : parseHostKey(blob);
  const wanted = rsaWords.has(type) ? 'ssh-rsa' : type;
  return key?.type === wanted ? key : undefined;
}

/**
 * The readable entries for a name (see `lookupName`), in the order of the files. Names match as in OpenSSH: hashed,
 * `*` and `?`, `!` negation, comma lists, any case; comments and broken lines are passed over.
 * @see sshd(8), SSH_KNOWN_HOSTS FILE FORMAT
 */
export function entriesFor(name: string, files: readonly KnownHostsText[]): readonly KnownHostsEntry[] {
  return files.flatMap(({ file, text }) =>
    matchingLines(name, text).flatMap(({ line, marker, rest }) => {
      const key = parseKeyWords(rest);
      return key === undefined ? [] : [{ ...key, file, line, marker }];
    }),
  );
}
