import { createHmac } from 'node:crypto';
import type { HostKey } from '../../model/cluster-lock.ts';
import { parseHostKey, strictBase64 } from './host-key.ts';

/** One known_hosts file as it was read. */
export interface KnownHostsText {
  readonly file: string;
  readonly text: string;
}

/** What stands before the names of a line. */
export type KnownHostsMarker = 'none' | 'cert-authority' | 'revoked';

/** A readable line of a known_hosts file that speaks of the name that was looked up. `line` counts from 1. */
export interface KnownHostsEntry extends HostKey {
  readonly file: string;
  readonly line: number;
  readonly marker: KnownHostsMarker;
}

/** A line whose names match and whose first word after them is a key type. `rest` is that word and what follows. */
export interface MatchingLine {
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
