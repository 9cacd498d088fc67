import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { entriesFor, matchesPattern, matchingLines } from '../../../../src/remote/keys/host-key-trust.ts';
import { orderHostKeyAlgorithms, strictAlgorithms } from '../../../../src/remote/ssh2.ts';
import { edKey, fields } from '../wire.ts';

const base64 = edKey(1).toString('base64');
const key = `ssh-ed25519 ${base64}`;
const rsa = fields('ssh-rsa', Buffer.from([3]), Buffer.concat([Buffer.from([0]), Buffer.alloc(128, 0xff)]));

/** The numbers of the lines that match `mac.lan`. */
const found = (...lines: readonly string[]): readonly number[] =>
  matchingLines('mac.lan', lines.join('\n')).map(({ line }) => line);

function hashed(name: string, saltBytes = 20): string {
  const salt = Buffer.alloc(saltBytes, 5);
  return `${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
}

describe('a known_hosts line', () => {
  it.each([
    `mac.lan ${key}`,
    ` \tMAC.lan\t \t${key} comment`,
    `mac.lan ${key}\0rest`,
    `other,mac.lan ${key}`,
    `*,!other ${key}`,
    `m?c.l* ${key}`,
    `|1|${hashed('mac.lan')} ${key}`,
    `@revoked mac.lan ${key}`,
    `@cert-authority  \t*.lan ${key}`,
    `@revoked\tmac.lan\t${key.replace(' ', '\t')}`,
    `${'x'.repeat(1_022)},mac.lan ${key}`,
    ...['ssh-rsa', 'ssh-dss', 'sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com'].map(
      (type) => `mac.lan ${type} AAAA`,
    ),
    ...['256', '384', '521'].map((bits) => `mac.lan ecdsa-sha2-nistp${bits} AAAA`),
    ...['rsa-sha2-256', 'rsa-sha2-512', 'ED25519', 'rsa', 'dsa', 'ecdsa', 'ed25519-sk', 'ecdsa-sk'].map(
      (type) => `mac.lan ${type} AAAA`,
    ),
    'mac.lan ssh-ed25519-cert-v01@openssh.com AAAA',
  ])('matches the node: %s', (line) => {
    expect(found('', line)).toEqual([2]);
  });

  it.each([
    '',
    '#',
    `# mac.lan ${key}`,
    `\0mac.lan ${key}`,
    `other ${key}`,
    `*,!mac.lan ${key}`,
    `!mac.lan,* ${key}`,
    `!other ${key}`,
    `mac.lan,${'x'.repeat(1_023)} ${key}`,
    `|1|${hashed('other')} ${key}`,
    `|1|${hashed('mac.lan')}|more ${key}`,
    `|2|${hashed('mac.lan')} ${key}`,
    `|1|${hashed('mac.lan', 21)} ${key}`,
    `|1|${hashed('mac.lan').replace('|', '!|')} ${key}`,
    `|1 ${key}`,
    `@unknown mac.lan ${key}`,
    `@revoked @revoked mac.lan ${key}`,
    `@revoked\tmac.lan ${key}`,
    `@revoked @x,mac.lan ${key}`,
    `#x,mac.lan ${key}`,
    '@revoked',
    'mac.lan',
    'mac.lan ssh-ed25519',
    `mac.lan ssh-ed25519 #${base64}`,
    `mac.lan ssh-new ${base64}`,
  ])('does not match the node: %s', (line) => {
    expect(found(line)).toEqual([]);
  });

  it('is returned with its marker and the text after the names', () => {
    expect(matchingLines('mac.lan', `# first\n@revoked mac.lan  ${key} me\r\nmac.lan \t${key}\n`)).toEqual([
      { line: 2, marker: 'revoked', rest: `${key} me\r` },
      { line: 3, marker: 'none', rest: key },
    ]);
  });
});

describe('a known_hosts entry', () => {
  it('is a valid key with its file and line', () => {
    const text = [
      `mac.lan ${key}`,
      `@cert-authority *.lan ${key} comment`,
      `mac.lan rsa-sha2-256 ${rsa.toString('base64')}`,
      `mac.lan ssh-rsa ${base64}`,
      `mac.lan ssh-ed25519 ${rsa.toString('base64')}`,
      `mac.lan ed25519 ${base64}`,
      'mac.lan ssh-ed25519 AAAA',
      'mac.lan ssh-ed25519 !!!!',
    ].join('\n');
    const files = [
      { file: 'own', text },
      { file: 'all', text: `mac.lan\t${key}` },
    ];
    expect(entriesFor('mac.lan', files)).toEqual([
      { type: 'ssh-ed25519', base64, file: 'own', line: 1, marker: 'none' },
      { type: 'ssh-ed25519', base64, file: 'own', line: 2, marker: 'cert-authority' },
      { type: 'ssh-rsa', base64: rsa.toString('base64'), file: 'own', line: 3, marker: 'none' },
      { type: 'ssh-ed25519', base64, file: 'all', line: 1, marker: 'none' },
    ]);
    expect(entriesFor('other', files)).toEqual([]);
  });
});

describe('matchesPattern', () => {
  it.each([
    ['', ''],
    ['', '*'],
    ['', '**'],
    ['ab', 'ab'],
    ['ab', '*'],
    ['ab', 'a*'],
    ['ab', 'ab**'],
    ['ab', '*b'],
    ['ab', '?b'],
    ['ab', 'a?'],
    ['aXbXc', 'a*b*c'],
    ['aabab', '*ab'],
    ['a*b', 'a*b'],
  ])('matches %j with the pattern %j', (text, pattern) => {
    expect(matchesPattern(text, pattern)).toBe(true);
  });

  it.each([
    ['', 'a'],
    ['', '?'],
    ['a', ''],
    ['ab', 'a'],
    ['ab', 'abc'],
    ['ab', 'b'],
    ['ab', 'ab?'],
    ['ab', '*a'],
    ['ab', 'b*'],
    ['aXb', 'a*c'],
    ['abc', 'a?'],
    ['aXbYc', 'a*c*b'],
  ])('does not match %j with the pattern %j', (text, pattern) => {
    expect(matchesPattern(text, pattern)).toBe(false);
  });
});

describe('the algorithms offered to a node', () => {
  const rest = ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'];
  const rsaOnes = ['rsa-sha2-512', 'rsa-sha2-256'];

  it('begin with the types of known keys', () => {
    expect(orderHostKeyAlgorithms([])).toEqual(['ssh-ed25519', ...rest, ...rsaOnes]);
    expect(orderHostKeyAlgorithms(['ssh-rsa'])).toEqual([...rsaOnes, 'ssh-ed25519', ...rest]);
    expect(orderHostKeyAlgorithms(['ecdsa-sha2-nistp521', 'ssh-dss'])).toEqual([
      'ecdsa-sha2-nistp521',
      'ssh-ed25519',
      ...rest.slice(0, 2),
      ...rsaOnes,
    ]);
  });

  it('exclude SHA-1, CBC and ChaCha20, and begin with the fastest', () => {
    expect(strictAlgorithms).toEqual({
      kex: [
        'curve25519-sha256',
        'curve25519-sha256@libssh.org',
        ...['256', '384', '521'].map((bits) => `ecdh-sha2-nistp${bits}`),
        ...['16-sha512', '18-sha512', '14-sha256'].map((group) => `diffie-hellman-group${group}`),
        'diffie-hellman-group-exchange-sha256',
      ],
      cipher: [
        ...['128', '256'].map((bits) => `aes${bits}-gcm@openssh.com`),
        ...['128', '192', '256'].map((bits) => `aes${bits}-ctr`),
      ],
      hmac: ['hmac-sha2-256', 'hmac-sha2-512'],
      compress: ['none'],
    });
  });
});
