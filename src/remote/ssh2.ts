import type { Algorithms } from 'ssh2';

/** The codes of an error of Node and of those it gathers (a name with several addresses fails once per address). */
export function errorCodes(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const own =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? [String(error.code)] : [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(errorCodes) : [];
  return [...new Set([...inner, ...own])];
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
  EISDIR: 'this is a folder',
  ENOTFOUND: 'the name does not exist',
  EAI_AGAIN: 'the name could not be looked up now',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no network route to it',
  EHOSTDOWN: 'it is down',
  ETIMEDOUT: 'no answer',
};

/** An error of Node in plain words. */
export function errorText(error: unknown): string {
  const known = errorCodes(error).flatMap((code) => words[code] ?? []);
  return known[0] ?? (error instanceof Error ? error.message : String(error));
}

/**
 * What is offered to a node, best first. AES-GCM leads (twice as fast as AES-CTR in ssh2). No SHA-1 anywhere, no CBC.
 * ChaCha20-Poly1305 is never offered: without strict key exchange it is open to prefix truncation (Terrapin,
 * CVE-2023-48795), and whether the node does strict key exchange is known only after the choice.
 */
export const strictAlgorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group-exchange-sha256',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} as const satisfies Algorithms;

/** Host-key algorithms in the order preferred when nothing is known about a node. `ssh-rsa` keys sign with SHA-2 only. */
export const hostKeyAlgorithms = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

/** An algorithm by which a node may prove its host key. */
export type HostKeyAlgorithm = (typeof hostKeyAlgorithms)[number];

const keyTypeOf = (algorithm: string): string => (algorithm.startsWith('rsa-sha2-') ? 'ssh-rsa' : algorithm);

/**
 * The same algorithms with those of the known key types first: a node known by its ECDSA key alone must be asked for
 * that key, or its Ed25519 key would look like an intruder's (k0sctl #813).
 */
export function orderHostKeyAlgorithms(knownTypes: readonly string[]): readonly HostKeyAlgorithm[] {
  const isKnown = (algorithm: string): boolean => knownTypes.includes(keyTypeOf(algorithm));
  return [...hostKeyAlgorithms.filter(isKnown), ...hostKeyAlgorithms.filter((one) => !isKnown(one))];
}
/** The SSH library, loaded when the first connection needs it: `--version` and `validate` never pay for it. */
export async function loadSsh2() {
  // A CommonJS module whose names Node finds only in part; the default export has them all.
  const { default: ssh2 } = await import('ssh2');
  return ssh2;
}
