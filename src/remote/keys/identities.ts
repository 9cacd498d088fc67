import { constants } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { BaseAgent, ParsedKey } from 'ssh2';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import type { Target } from '../remote.ts';
import { errorCodes, errorText, loadSsh2 } from '../ssh2.ts';
import { fingerprint, wireFields } from './host-key.ts';

/** One key that is offered to a node: signed for by a file that was read, or by the agent. */
export interface Offer {
  /** Shown when the node accepts none: path or agent comment, type and fingerprint. */
  readonly label: string;
  readonly key: ParsedKey;
  readonly signer: { readonly kind: 'file' } | { readonly kind: 'agent'; readonly agent: BaseAgent };
}

/** Everything that can be offered, and what stood in the way of the rest. */
export interface Identities {
  readonly offers: readonly Offer[];
  /** How many keys are left out because a node would end the connection after too many. */
  readonly leftOut: number;
  readonly problems: readonly Diagnostic[];
}

/** sshd ends a connection at the sixth failed request (MaxAuthTries). */
const maxOffers = 5;
/** After the keys of an agent one more request asks for the methods that are left; see `publickeyOnly`. */
const maxOffersWithAgent = 4;

const blobOf = (key: ParsedKey): string => key.getPublicSSH().toString('base64');

const label = (source: string, key: ParsedKey): string =>
  `${source} (${key.type} ${fingerprint({ type: key.type, base64: blobOf(key) })})`;

function encrypted(file: string): Diagnostic {
  return diagnose('ssh/key-encrypted', {
    detail: `${file} is encrypted, and the ssh agent does not hold its key.`,
    hint: `Load it once: ssh-add ${file}`,
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
            detail: `${file.path} is a public key, and the ssh agent does not hold its private half.`,
          });
    }
  }
}

/** Each key where it stands first. */
function distinct(offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(({ key }, at) => offers.findIndex((other) => blobOf(other.key) === blobOf(key)) === at);
}

/** Collects the keys to offer to a node: files in their order, then the agent's, each once, at most five (four with an agent). */
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

/** The key that a node is offered first, as a person knows it and as `authorized_keys` has it. */
export interface FirstKey {
  /** Path or agent comment, type and fingerprint. */
  readonly label: string;
  /** Type and base64. */
  readonly line: string;
}

/** The key that would be offered to a node first; undefined when there is none. */
export async function firstKey(target: Target): Promise<FirstKey | undefined> {
  const [first] = (await collectIdentities(target)).offers;
  return first && { label: first.label, line: `${first.key.type} ${blobOf(first.key)}` };
}

/** The lines for `authorized_keys` of the keys that would be offered to a node, best first. */
export async function authorizedKeysLines(target: Target): Promise<readonly string[]> {
  const { offers } = await collectIdentities(target);
  return offers.map(({ key }) => {
    const comment = /^[\x20-\x7e]+$/u.test(key.comment) ? ` ${key.comment}` : '';
    return `${key.type} ${blobOf(key)}${comment}`;
  });
}

/** What a key file turned out to be. `publicBase64` is the wire form of its public half. */
type KeyFile =
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
  return { kind: 'encrypted', path, ...given({ publicBase64 }) };
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

/** A key that an agent holds, with the agent that signs for it. */
interface AgentKey {
  readonly key: ParsedKey;
  readonly signer: BaseAgent;
}

/** What an agent holds, or why nobody knows. */
interface AgentAnswer {
  readonly keys: readonly AgentKey[];
  readonly problem?: Diagnostic;
}

const noAgent: AgentAnswer = { keys: [] };

const deadlineMs = 5_000;

function unreachable(socket: string, why: string): AgentAnswer {
  const problem = diagnose('ssh/agent-unreachable', {
    detail: `The ssh agent at ${socket} gave no list of keys: ${why}.`,
  });
  return { keys: [], problem };
}

/** Asks an ssh agent for its keys; types that ssh2 cannot use (sk-, certificates, DSA) are left out. Never rejects. */
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
