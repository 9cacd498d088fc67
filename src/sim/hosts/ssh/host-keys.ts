import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ssh2 from 'ssh2';
import type { ConnectionState } from '../../model/fleet.ts';
import { replaceFile } from '../replace-file.ts';

/** An ed25519 key in OpenSSH's form: the text of the private file, and the one-line public form without a comment. */
export interface KeyFile {
  readonly path: string;
  readonly privateText: string;
  /** `ssh-ed25519 AAAA…` */
  readonly publicText: string;
}

const text = (value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/**
 * The private and public halves of a new key. The call that creates the key also encodes it, because Node 20 can hang
 * when it exports a new key (seen within 50,000 keys).
 *
 * @see RFC 8410: in both of Node's encodings, the key is the last 32 bytes
 */
function newHalves(): { readonly secret: Buffer; readonly open: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  return { secret: privateKey.subarray(-32), open: publicKey.subarray(-32) };
}

/** Pads the private section with 1, 2, 3… to the block size of 8 (OpenSSH PROTOCOL.key). */
const padded = (section: Buffer): Buffer => {
  const missing = (8 - (section.length % 8)) % 8;
  return Buffer.concat([section, Buffer.from(Array.from({ length: missing }, (_, index) => index + 1))]);
};

/**
 * Creates an ed25519 key in the `openssh-key-v1` form that both ssh2 and the `ssh` command read. It uses node:crypto,
 * because 5 in 1,000 keys of ssh2's own generator cannot be parsed by ssh2.
 *
 * @see OpenSSH PROTOCOL.key
 */
export function createKeyText(comment: string): { readonly privateText: string; readonly publicText: string } {
  const { secret, open } = newHalves();
  const publicBlob = Buffer.concat([text('ssh-ed25519'), text(open)]);
  const check = randomBytes(4);
  const section = Buffer.concat([
    check,
    check,
    text('ssh-ed25519'),
    text(open),
    text(Buffer.concat([secret, open])),
    text(comment),
  ]);
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    text('none'),
    text('none'),
    text(''),
    Buffer.from([0, 0, 0, 1]),
    text(publicBlob),
    text(padded(section)),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
  return {
    privateText: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`,
    publicText: `ssh-ed25519 ${publicBlob.toString('base64')}`,
  };
}

const publicTextOf = (privateText: string): string | undefined => {
  const parsed = ssh2.utils.parseKey(privateText);
  return parsed instanceof Error ? undefined : `${parsed.type} ${parsed.getPublicSSH().toString('base64')}`;
};

/**
 * Reads the key at `path`. If it is missing or invalid, creates and stores a new one (mode 0600, its folder 0700). Keys
 * are kept in the run's folder, so that known_hosts entries remain valid after `sim down` and `sim up`.
 */
export async function loadOrCreateKey(path: string, comment: string): Promise<KeyFile> {
  if (existsSync(path)) {
    const privateText = await readFile(path, 'utf8');
    const publicText = publicTextOf(privateText);
    if (publicText !== undefined) return { path, privateText, publicText };
  }
  const made = createKeyText(comment);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, made.privateText, 0o600);
  await writeFile(`${path}.pub`, `${made.publicText} ${comment}\n`, { mode: 0o644 });
  return { path, ...made };
}

/** `other`: the key of a reinstalled or impersonated Mac. `preboot`: the key of the sshd before FileVault. */
export type NodeKeys = Readonly<Record<ConnectionState['hostKey'] | 'preboot', KeyFile>>;

export async function loadNodeKeys(folder: string, node: string): Promise<NodeKeys> {
  const load = (name: string): Promise<KeyFile> =>
    loadOrCreateKey(join(folder, 'host-keys', name), `simulated ${node}`);
  return { own: await load(node), other: await load(`${node}.other`), preboot: await load(`${node}.preboot`) };
}

/** The key that a Mac shows. */
export const shownKey = ({ hostKey, filevault, prebootKey }: ConnectionState): keyof NodeKeys =>
  filevault === 'preboot' && hostKey === 'own' && prebootKey !== 'same' ? 'preboot' : hostKey;
