import { createHmac } from 'node:crypto';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { HostKey, HostKeyLock } from '../../model/cluster-lock.ts';
import { meshwright } from '../../model/text/command.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import { lookupName, type Target } from '../remote.ts';
import { type HostKeyAlgorithm, orderHostKeyAlgorithms } from '../ssh2.ts';
import { fingerprint, parseHostKey, strictBase64 } from './host-key.ts';

const keyFile = (key: HostKey): string => {
  const kind = key.type.replace(/^(?:sk-)?(?:ssh-)?/u, '').split(/[-@]/u)[0] ?? '';
  return `ssh_host_${kind}_key.pub`;
};

const shown = (key: HostKey): string => `${fingerprint(key)} (${key.type})`;

/** Lines that start with two spaces are for copying and are never wrapped. */
const compareThen = (target: Target, seen: HostKey, ...more: readonly string[]): Prose =>
  prose`Compare on the Mac itself:\n  ssh-keygen -lf /etc/ssh/${keyFile(seen)}\nIf they agree:\n  ${meshwright('enroll', target.label, ...more)}`;

const place = (known: KnownKey): string => `${known.file}:${known.line}`;

/** The hint for a locked Mac. A Mac that is not in a cluster file can only be unlocked manually. */
function unlockHint({ label, host, port, user }: Target): Prose {
  const words: readonly Prose[] =
    label === host
      ? [
          'Enter the password at the Mac, or unlock the Mac from here with a local account:',
          `  ssh ${port === 22 ? '' : `-p ${port} `}${user}@${host}`,
          'Then run this command again.',
        ]
      : [
          'Unlock the Mac (meshwright prompts for the password unless cluster.yaml names its source):',
          prose`  ${meshwright('unlock', label)}`,
          'Or enter the password at the Mac. Then run this command again.',
        ];
  return joinProse(words, '\n');
}

export function lockedAtFileVault(target: Target, why: string): Diagnostic {
  return diagnose('ssh/locked-at-filevault', {
    detail: prose`${named(target.host)} is up, but its disk is still locked; no password was sent.${why === '' ? '' : ` ${why}`}`,
    hint: unlockHint(target),
  });
}

function changed(target: Target, seen: HostKey, known: KnownKey): Diagnostic {
  // Two keys of the same type differ by their fingerprints, which fit on one line.
  const keyText = (key: HostKey): string => (seen.type === known.type ? fingerprint(key) : shown(key));
  return diagnose('ssh/host-key-changed', {
    detail: prose`The host key of ${named(target.host)} is not the one in ${place(known)}.\n${[
      `  known  ${keyText(known)}`,
      `  seen   ${keyText(seen)}`,
      'Either the Mac was reinstalled, it is waiting for its FileVault password, or another device is intercepting the connection.',
    ].join('\n')}`,
    // Only a node in the file can be replaced with a different Mac.
    hint:
      target.label === target.host
        ? compareThen(target, seen, '--replace')
        : prose`${compareThen(target, seen, '--replace')}\nIf a different Mac now has this place:\n  ${meshwright('replace', target.label)}`,
  });
}

/** Explains a rejected host key: both fingerprints, the line with the known key, and the next command. */
export function diagnoseHostKey(target: Target, verdict: Exclude<HostKeyVerdict, { kind: 'accepted' }>): Diagnostic {
  switch (verdict.kind) {
    case 'unreadable':
      return diagnose('ssh/host-key-unknown', {
        detail: prose`${named(target.host)} showed an unreadable host key.`,
        hint: prose`Check the key on the Mac itself, then: ${meshwright('enroll', target.label)}`,
      });
    case 'unknown':
      return diagnose('ssh/host-key-unknown', {
        detail: prose`${named(target.host)} shows ${shown(verdict.seen)}; neither cluster.lock nor known_hosts has a key for it.`,
        hint: compareThen(target, verdict.seen),
      });
    case 'preboot':
      return lockedAtFileVault(target, '');
    case 'changed':
      return changed(target, verdict.seen, verdict.known);
    case 'revoked':
      return diagnose('ssh/host-key-revoked', {
        detail: prose`${named(target.host)} shows ${shown(verdict.seen)}, which ${place(verdict.known)} revokes.`,
      });
    case 'certificate-authority':
      return diagnose('ssh/certificate-authority', {
        detail: prose`${place(verdict.known)} trusts ${named(target.host)} only through a certificate authority; its key ${shown(verdict.seen)} is not known.`,
        hint: prose`Only the system's ssh reads host certificates. Pin the plain key instead: ${meshwright('enroll', target.label)}`,
      });
  }
}

interface KnownKey extends HostKey {
  readonly file: string;
  readonly line: number;
}

/** The verdict on a node's host key. Only `accepted` lets a connection continue. */
export type HostKeyVerdict =
  | { readonly kind: 'accepted'; readonly seen: HostKey; readonly known: KnownKey }
  | { readonly kind: 'unknown'; readonly seen: HostKey }
  | { readonly kind: 'changed'; readonly seen: HostKey; readonly known: KnownKey }
  | { readonly kind: 'revoked'; readonly seen: HostKey; readonly known: KnownKey }
  | { readonly kind: 'certificate-authority'; readonly seen: HostKey; readonly known: KnownKey }
  /** The key that the Mac shows while it waits for its FileVault password. Nothing except that password may be sent. */
  | { readonly kind: 'preboot'; readonly seen: HostKey; readonly known: KnownKey }
  | { readonly kind: 'unreadable' };

interface TrustSources {
  /** In ssh's order: the user's files, then the machine's. */
  readonly knownHosts: readonly KnownHostsText[];
  readonly lock?: HostKeyLock;
}

const trusted: unique symbol = Symbol('host key trust');

/**
 * The rules for accepting a node's host key. Only {@link trustFor} creates them, so that every connection has a verdict
 * on the host key.
 */
export interface HostKeyTrust {
  readonly [trusted]: true;
  /** The name to look up: `host`, `[host]:port`, or ssh's HostKeyAlias. */
  readonly name: string;
  /** Whether a preboot key is pinned. */
  readonly knowsPreboot: boolean;
  /** Host key algorithms to offer, known types first. */
  readonly algorithms: readonly HostKeyAlgorithm[];
  /** Evaluates the key that the node shows, in its wire form. */
  readonly judge: (blob: Buffer) => HostKeyVerdict;
}

export const trustName = (target: Pick<Target, 'host' | 'port' | 'hostKeyAlias'>): string =>
  target.hostKeyAlias ?? lookupName(target.host, target.port);

function pinsFor(
  target: Pick<Target, 'host' | 'port'>,
  lock: HostKeyLock | undefined,
  section: 'hostKeys' | 'prebootKeys',
): readonly KnownKey[] {
  const name = lookupName(target.host, target.port);
  const pins = lock?.[section];
  if (lock === undefined || pins === undefined || !Object.hasOwn(pins, name)) return [];
  return (pins[name] ?? []).map((pin) => ({ ...pin, file: lock.file }));
}

/** All known keys of a node, collected before the node shows a key. */
interface Knowledge {
  /** Acceptable keys: pins or, without any, plain lines in known_hosts. */
  readonly plain: readonly KnownKey[];
  /** Lines in known_hosts with the node's name. */
  readonly entries: readonly KnownHostsEntry[];
  /** Lines with the bare host name of a node whose port is not 22. They count if the name with the port is unknown. */
  readonly bare: readonly KnownHostsEntry[];
  /** Pinned preboot keys. */
  readonly preboot: readonly KnownKey[];
}

const isPlain = (entry: KnownHostsEntry): boolean => entry.marker === 'none';

function judgeKey(seen: HostKey, { plain, entries, bare, preboot }: Knowledge): HostKeyVerdict {
  const isSame = (key: HostKey): boolean => key.base64 === seen.base64;
  const revoked = [...entries, ...bare].find((entry) => entry.marker === 'revoked' && isSame(entry));
  if (revoked !== undefined) return { kind: 'revoked', seen, known: revoked };
  const accepted = plain.find(isSame);
  if (accepted !== undefined) return { kind: 'accepted', seen, known: accepted };
  const beforeUnlock = preboot.find(isSame);
  if (beforeUnlock !== undefined) return { kind: 'preboot', seen, known: beforeUnlock };
  const changed = plain.find((key) => key.type === seen.type) ?? plain[0];
  if (changed !== undefined) return { kind: 'changed', seen, known: changed };
  const acceptedBare = bare.filter(isPlain).find(isSame);
  if (acceptedBare !== undefined) return { kind: 'accepted', seen, known: acceptedBare };
  const authority = entries.find((entry) => entry.marker === 'cert-authority');
  return authority === undefined
    ? { kind: 'unknown', seen }
    : { kind: 'certificate-authority', seen, known: authority };
}

/** Key types whose first plain key is not revoked. OpenSSH requests these types first. */
function knownTypes(knowledge: Knowledge): readonly string[] {
  const { plain } = knowledge;
  const firsts = plain.filter((key, index) => plain.findIndex((other) => other.type === key.type) === index);
  const isGood = (key: KnownKey): boolean => judgeKey(key, knowledge).kind === 'accepted';
  return firsts.filter(isGood).map((key) => key.type);
}

/**
 * Determines which host keys to accept for a node. Pins of the node's address in `cluster.lock` (`host` or
 * `[host]:port`) take precedence over known_hosts, and a `@revoked` line over both. Otherwise the verdict is the same
 * as OpenSSH's, which for a port other than 22 also checks the bare host if `[host]:port` is unknown.
 */
export function trustFor(target: Pick<Target, 'host' | 'port' | 'hostKeyAlias'>, sources: TrustSources): HostKeyTrust {
  const name = trustName(target);
  const bareName = lookupName(target.host, 22);
  const entries = entriesFor(name, sources.knownHosts);
  const pins = pinsFor(target, sources.lock, 'hostKeys');
  const hasBare = pins.length === 0 && target.hostKeyAlias === undefined && bareName !== name;
  const knowledge = {
    plain: pins.length > 0 ? pins : entries.filter(isPlain),
    entries,
    bare: hasBare ? entriesFor(bareName, sources.knownHosts) : [],
    preboot: pinsFor(target, sources.lock, 'prebootKeys'),
  };
  return {
    [trusted]: true,
    name,
    knowsPreboot: knowledge.preboot.length > 0,
    algorithms: orderHostKeyAlgorithms(knownTypes(knowledge)),
    judge: (blob) => {
      const seen = parseHostKey(blob);
      return seen === undefined ? { kind: 'unreadable' } : judgeKey(seen, knowledge);
    },
  };
}

interface KnownHostsText {
  readonly file: string;
  readonly text: string;
}

/** The marker before the names of a line. */
type KnownHostsMarker = 'none' | 'cert-authority' | 'revoked';

/** A valid line in a known_hosts file for the name. `line` counts from 1. */
interface KnownHostsEntry extends KnownKey {
  readonly marker: KnownHostsMarker;
}

/** A line with a matching name. `rest` starts with the key type. */
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
/** Signature algorithms that OpenSSH accepts as an RSA key's type. */
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

/** Removes a marker from the start; undefined for an unknown or second one, as OpenSSH rejects the line. */
function takeMarker(text: string): { readonly marker: KnownHostsMarker; readonly rest: string } | undefined {
  if (!text.startsWith('@')) return { marker: 'none', rest: text };
  // OpenSSH ends a marker at the first space of the line, and at a tab only if the line has no space.
  const blank = text.indexOf(' ');
  const end = blank === -1 ? text.indexOf('\t') : blank;
  const marker = end === -1 ? undefined : markers[text.slice(0, end)];
  const rest = text.slice(end).replace(/^[ \t]+/u, '');
  return marker === undefined || rest.startsWith('@') ? undefined : { marker, rest };
}

/** Matches ` ` and `?` without backtracking, so that a hostile file costs at most text × pattern length. */
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

/** The lines that `ssh-keygen -F name` finds in one file. Their keys are not parsed yet, and can be invalid. */
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
 * The valid entries for a name (see `lookupName`), in file order. Names match as in OpenSSH: hashed, `*` and `?`, `!`
 * negation, comma lists, any case. Comments and invalid lines are skipped.
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
