import { generateKeyPairSync } from 'node:crypto';
import { chownSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readKeyFile } from '../../../../src/remote/keys/identities.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { edKey, edPair, field, fields } from '../wire.ts';

const { path: folder, at, write: put } = temporaryFolder();

const plain = edPair();
const locked = edPair({ passphrase: 'x', cipher: 'aes256-ctr', rounds: 1 });
const blobOf = (publicLine: string): string => publicLine.split(' ')[1] ?? '';
const secretPem = (type: 'sec1' | 'pkcs8') =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type, format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' },
  }).privateKey;

/** A DSA key with small numbers in PEM. */
const dsa = Buffer.from([0x30, 18, ...[0, 23, 11, 4, 8, 3].flatMap((one) => [2, 1, one])]).toString('base64');
const dsaPem = `-----BEGIN DSA PRIVATE KEY-----\n${dsa}\n-----END DSA PRIVATE KEY-----\n`;

/** The start of an encrypted OpenSSH key, with `rest` after its three strings. */
function openSsh(rest: Buffer, magic = 'openssh-key-v1\0'): string {
  const bytes = Buffer.concat([Buffer.from(magic), fields('aes', 'bcrypt', 'options'), rest]);
  const pem = `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----`;
  return `${pem}\n-----BEGIN ENCRYPTED PRIVATE KEY-----\n`;
}

const one = Buffer.from([0, 0, 0, 1]);
const unusable = (path: string, reason: string) => ({ kind: 'unusable', path, reason });

describe('a key file', () => {
  it('contains a private key, or a public key that other users may read', async () => {
    const path = put('plain', plain.private);
    const read = await readKeyFile(path);
    expect(read).toMatchObject({ kind: 'private', path, key: { type: 'ssh-ed25519' } });
    const publicFile = put('plain.pub', plain.public, 0o644);
    const publicKey = { kind: 'public', path: publicFile, publicBase64: blobOf(plain.public) };
    expect(await readKeyFile(publicFile)).toEqual(publicKey);
  });

  it("provides an encrypted key's public key, from the key itself or its .pub file", async () => {
    const path = put('locked', locked.private);
    expect(await readKeyFile(path)).toEqual({ kind: 'encrypted', path, publicBase64: blobOf(locked.public) });
    for (const type of ['sec1', 'pkcs8'] as const) {
      const old = put(type, secretPem(type));
      expect(await readKeyFile(old)).toEqual({ kind: 'encrypted', path: old });
      put(`${type}.pub`, 'ssh-ed25519\tAAAA me\n', 0o644);
      expect(await readKeyFile(old)).toEqual({ kind: 'encrypted', path: old, publicBase64: 'AAAA' });
    }
    const blob = edKey(3);
    const whole = put('whole', openSsh(Buffer.concat([one, field(blob)])));
    expect(await readKeyFile(whole)).toEqual({ kind: 'encrypted', path: whole, publicBase64: blob.toString('base64') });
    const cut = [Buffer.alloc(0), one, one.subarray(1), Buffer.concat([one, field('')])];
    for (const rest of [...cut, Buffer.concat([one, field(blob.subarray(1))])]) {
      const path = put('cut', openSsh(rest));
      expect(await readKeyFile(path)).toEqual({ kind: 'encrypted', path });
    }
    const other = put('cut', openSsh(Buffer.concat([one, field(blob)]), 'openssh-key-v2\0'));
    expect(await readKeyFile(other)).toEqual({ kind: 'encrypted', path: other });
  });

  it('is rejected with the reason if missing, too long or not a supported key', async () => {
    const nowhere = at('nowhere');
    expect(await readKeyFile(nowhere)).toEqual(unusable(nowhere, 'the file does not exist'));
    expect(await readKeyFile(folder)).toEqual(unusable(folder, 'the path is a folder'));
    const long = put('long', Buffer.alloc(65_537, 'a'));
    expect(await readKeyFile(long)).toEqual(unusable(long, 'too long for a key file'));
    const text = put('text', Buffer.alloc(65_536, 'a'));
    expect(await readKeyFile(text)).toEqual(unusable(text, 'not a key file'));
    const odd = put('odd', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n');
    const why = 'the built-in client cannot use this key (Unsupported key format)';
    expect(await readKeyFile(odd)).toEqual(unusable(odd, why));
    const broken = put('dsa', dsaPem);
    expect(await readKeyFile(broken)).toEqual(unusable(broken, 'DSA keys are broken and no longer accepted'));
  });

  it('is rejected if other users can read it, unless a different user owns it', async () => {
    for (const mode of [0o640, 0o604, 0o620, 0o601]) {
      for (const text of [plain.private, locked.private]) {
        const open = put('open', text, mode);
        expect(await readKeyFile(open)).toEqual(unusable(open, `other users can read it; chmod 600 ${open}`));
      }
    }
    if (process.getuid?.() !== 0) return;
    const foreign = put('foreign', plain.private, 0o644);
    chownSync(foreign, 1_234, 1_234);
    expect(await readKeyFile(foreign)).toMatchObject({ kind: 'private' });
  });
});
