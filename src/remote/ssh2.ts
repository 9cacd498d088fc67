import type { Algorithms } from 'ssh2';

/** The codes of a Node error and its aggregated errors; a name with several addresses fails once per address. */
export function errorCodes(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const own =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? [String(error.code)] : [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(errorCodes) : [];
  return [...new Set([...inner, ...own])];
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
  EISDIR: 'the path is a folder',
  ENOTFOUND: 'the name does not exist',
  EAI_AGAIN: 'the name cannot be looked up at the moment',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  EHOSTDOWN: 'the host is down',
  ETIMEDOUT: 'no answer',
};

export function errorText(error: unknown): string {
  const known = errorCodes(error).flatMap((code) => words[code] ?? []);
  return known[0] ?? (error instanceof Error ? error.message : String(error));
}

/**
 * The algorithms offered to a node, best first. AES-GCM is first, because in ssh2 it is twice as fast as AES-CTR. SHA-1
 * and CBC are never offered. Neither is ChaCha20-Poly1305: without strict key exchange, it allows prefix truncation
 * (Terrapin, CVE-2023-48795), and the node's support for strict key exchange is known only after the choice.
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

/** Preferred host key algorithms for an unknown node. `ssh-rsa` keys sign only with SHA-2. */
export const hostKeyAlgorithms = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

export type HostKeyAlgorithm = (typeof hostKeyAlgorithms)[number];

const keyTypeOf = (algorithm: string): string => (algorithm.startsWith('rsa-sha2-') ? 'ssh-rsa' : algorithm);

/** Known key types first: a node known by its ECDSA key must not show an Ed25519 key, like an intruder (k0sctl #813) */
export function orderHostKeyAlgorithms(knownTypes: readonly string[]): readonly HostKeyAlgorithm[] {
  const isKnown = (algorithm: string): boolean => knownTypes.includes(keyTypeOf(algorithm));
  return [...hostKeyAlgorithms.filter(isKnown), ...hostKeyAlgorithms.filter((one) => !isKnown(one))];
}
/** Loads the SSH library at the first connection, so that `--version` and `validate` are fast. */
export async function loadSsh2() {
  // ssh2 is a CommonJS module; Node finds only some of its named exports, so the default export is used.
  const { default: ssh2 } = await import('ssh2');
  return ssh2;
}
