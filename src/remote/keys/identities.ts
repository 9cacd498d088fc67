import { constants } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { BaseAgent, ParsedKey } from 'ssh2';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import type { Target } from '../remote.ts';
import { errorCodes, errorText, loadSsh2 } from '../ssh2.ts';
import { fingerprint, wireFields } from './host-key.ts';

/** One key to offer to a node. The key's file or the agent signs. */
export interface Offer {
  /** Path or agent comment, type and fingerprint; shown if the node accepts no key. */
  readonly label: string;
  readonly key: ParsedKey;
  readonly signer: { readonly kind: 'file' } | { readonly kind: 'agent'; readonly agent: BaseAgent };
}

export interface Identities {
  readonly offers: readonly Offer[];
  /** Number of keys that are not offered, because a node closes the connection after too many. */
  readonly leftOut: number;
  readonly problems: readonly Diagnostic[];
}

/** sshd closes a connection at the sixth failed request (MaxAuthTries). */
const maxOffers = 5;
/** Lower limit with agent keys, because one more request then reads the remaining methods; see `publickeyOnly`. */
const maxOffersWithAgent = 4;

const blobOf = (key: ParsedKey): string => key.getPublicSSH().toString('base64');

const label = (source: string, key: ParsedKey): string =>
  `${source} (${key.type} ${fingerprint({ type: key.type, base64: blobOf(key) })})`;

function encrypted(file: string): Diagnostic {
  return diagnose('ssh/key-encrypted', {
    detail: `${file} is encrypted, and the ssh agent does not have its key.`,
    hint: `Add the key to the agent: ssh-add ${file}`,
  });
}

function offerOfFile(file: KeyFile, agentOffers: readonly Offer[]): Offer | Diagnostic {
  switch (file.kind) {
    case 'private':
      return { label: label(file.path, file.key), key: file.key, signer: { kind: 'file' } };
    case 'unusable':
      return diagnose('ssh/key-unusable', { detail: `${file.path}: ${file.reason}.` });
    case 'public':
    case 'encrypted': {
      const held = agentOffers.find((offer) => blobOf(offer.key) === file.publicBase64);
      if (held !== undefined) return { ...held, label: label(file.path, held.key) };
      return file.kind === 'encrypted'
        ? encrypted(file.path)
        : diagnose('ssh/key-unusable', {
            detail: `${file.path} is a public key, and the ssh agent does not have its private key.`,
          });
    }
  }
}

/** Removes duplicate keys; the first one is kept. */
function distinct(offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(({ key }, at) => offers.findIndex((other) => blobOf(other.key) === blobOf(key)) === at);
}

/** The keys to offer to a node: files in order, then the agent's; each once, at most five (four with an agent). */
export async function collectIdentities(target: Target): Promise<Identities> {
  const [files, agent] = await Promise.all([
    Promise.all(target.identityFiles.map(readKeyFile)),
    target.agentSocket === undefined ? noAgent : listAgentKeys(target.agentSocket),
  ]);
  const agentOffers = agent.keys.map(
    ({ key, signer }): Offer => ({
      label: label(`agent: ${key.comment}`, key),
      key,
      signer: { kind: 'agent', agent: signer },
    }),
  );
  const fromFiles = files.map((file) => offerOfFile(file, agentOffers));
  const problems = [...fromFiles.filter((one) => 'code' in one), ...(agent.problem ? [agent.problem] : [])];
  const own = fromFiles.filter((one) => 'key' in one);
  const all = distinct(target.isIdentitiesOnly === true ? own : [...own, ...agentOffers]);
  const hasAgent = all.slice(0, maxOffers).some((offer) => offer.signer.kind === 'agent');
  const offers = all.slice(0, hasAgent ? maxOffersWithAgent : maxOffers);
  return { offers, leftOut: all.length - offers.length, problems };
}

/** The first key that is offered to a node, for people and for `authorized_keys`. */
export interface FirstKey {
  /** Path or agent comment, type and fingerprint. */
  readonly label: string;
  /** Key type and base64. */
  readonly line: string;
}

export async function firstKey(target: Target): Promise<FirstKey | undefined> {
  const [first] = (await collectIdentities(target)).offers;
  return first && { label: first.label, line: `${first.key.type} ${blobOf(first.key)}` };
}

/** The `authorized_keys` lines of the keys for a node, best first. */
export async function authorizedKeysLines(target: Target): Promise<readonly string[]> {
  const { offers } = await collectIdentities(target);
  return offers.map(({ key }) => {
    const comment = /^[\x20-\x7e]+$/u.test(key.comment) ? ` ${key.comment}` : '';
    return `${key.type} ${blobOf(key)}${comment}`;
  });
}

/** The content of a key file. `publicBase64` is its public key in wire form. */
type KeyFile =
  | { readonly kind: 'private'; readonly path: string; readonly key: ParsedKey }
  | { readonly kind: 'encrypted'; readonly path: string; readonly publicBase64?: string }
  | { readonly kind: 'public'; readonly path: string; readonly publicBase64: string }
  | { readonly kind: 'unusable'; readonly path: string; readonly reason: string };

const maxBytes = 64 * 1024;

/** A normal open of a pipe would wait forever for a writer. */
const unwaited = { encoding: 'latin1', flag: constants.O_RDONLY | constants.O_NONBLOCK } as const;

const magic = 'openssh-key-v1\0';

/** The public key in an OpenSSH private key file. It is readable even if the file is encrypted. */
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
  // Like ssh, requires restrictive permissions only for files of the same user.
  return uid === process.getuid?.() && (mode & 0o077) !== 0;
}

async function publicBeside(path: string): Promise<string | undefined> {
  const text = await readFile(`${path}.pub`, unwaited).catch(() => '');
  return /^[a-z0-9@.-]+[ \t]+([A-Za-z0-9+/=]+)/u.exec(text)?.[1];
}

async function encryptedFile(path: string, text: string): Promise<KeyFile> {
  const publicBase64 = publicHalf(text) ?? (await publicBeside(path));
  return { kind: 'encrypted', path, ...given({ publicBase64 }) };
}

async function judge(path: string, text: string): Promise<KeyFile> {
  const { utils } = await loadSsh2();
  const parsed = utils.parseKey(text);
  if (parsed instanceof Error) {
    if (/encrypted/iu.test(parsed.message) || text.includes('BEGIN ENCRYPTED PRIVATE KEY'))
      return encryptedFile(path, text);
    const isKey = text.includes('PRIVATE KEY-----');
    const reason = isKey ? `the built-in client cannot use this key (${parsed.message})` : 'not a key file';
    return { kind: 'unusable', path, reason };
  }
  if (!parsed.isPrivateKey()) return { kind: 'public', path, publicBase64: parsed.getPublicSSH().toString('base64') };
  return parsed.type === 'ssh-dss'
    ? { kind: 'unusable', path, reason: 'DSA keys are broken and no longer accepted' }
    : { kind: 'private', path, key: parsed };
}

/** Reads a private key file, or explains why it cannot. */
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

interface AgentKey {
  readonly key: ParsedKey;
  readonly signer: BaseAgent;
}

/** An agent's keys, or the reason why they are unknown. */
interface AgentAnswer {
  readonly keys: readonly AgentKey[];
  readonly problem?: Diagnostic;
}

const noAgent: AgentAnswer = { keys: [] };

const deadlineMs = 5_000;

function unreachable(socket: string, why: string): AgentAnswer {
  const problem = diagnose('ssh/agent-unreachable', {
    detail: `The ssh agent at ${socket} did not list its keys: ${why}.`,
  });
  return { keys: [], problem };
}

/** Lists an agent's keys without those that ssh2 cannot use (sk-, certificates, DSA). Never rejects. */
export async function listAgentKeys(socket: string): Promise<AgentAnswer> {
  const { OpenSSHAgent } = await loadSsh2();
  const signer = new OpenSSHAgent(socket);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(unreachable(socket, `no answer in ${deadlineMs / 1000} s`)), deadlineMs);
    signer.getIdentities((error, keys) => {
      clearTimeout(timer);
      if (error || keys === undefined) return resolve(unreachable(socket, error?.message ?? 'an empty answer'));
      return resolve({
        keys: keys.flatMap((key) => ('type' in key && key.type !== 'ssh-dss' ? [{ key, signer }] : [])),
      });
    });
  });
}
