import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../src/config/lock.ts';
import { renderLock, withPin } from '../../../src/config/lock-text.ts';
import { parseLock } from '../../../src/engine/load-cluster.ts';
import type { ClusterLock, HostKey } from '../../../src/model/cluster-lock.ts';
import { digest } from '../../../src/model/digest.ts';

/** A key whose base64 contains its type, as in real keys. */
function key(type: string, filler: number): HostKey {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(type.length);
  return { type, base64: Buffer.concat([head, Buffer.from(type), Buffer.alloc(39, filler)]).toString('base64') };
}

const ed = key('ssh-ed25519', 1);
const rsa = key('ssh-rsa', 2);

const sha = (letter: string) => digest(letter.repeat(64));

/** A lock with entries in every section except the pins. */
const whole: ClusterLock = {
  ...emptyLock('cluster.lock'),
  nodes: ['a', 'b'],
  identities: { a: sha('d') },
  links: {
    'a:3 <-> c:2': { address: '10.77.0.4', prefixLength: 30 },
    'a:2 <-> b:2': { address: '10.77.0.0', prefixLength: 30 },
  },
  formerNetworks: { '10.77.0.8/30': 'a:4 <-> d:2' },
  runtimes: { reference: { sha256: sha('a'), sizeBytes: 123_456 } },
  rolledBack: { reference: { to: sha('e'), from: sha('a') } },
  models: {
    kimi: {
      source: 'hf:acme/kimi',
      commit: 'f'.repeat(40),
      access: 'public',
      files: [{ path: 'config.json', sha256: sha('b'), sizeBytes: 2 }],
    },
    tiny: {
      source: './models/tiny',
      files: [
        { path: 'config.json', sha256: sha('b'), sizeBytes: 0 },
        { path: 'weights/part-1.bin', sha256: sha('c'), sizeBytes: 735_000_000_000 },
      ],
    },
  },
};

describe('cluster.lock', () => {
  it('is sorted with one host key per line', () => {
    const lock = withPin(withPin(withPin(emptyLock('cluster.lock'), 'b.lan', rsa), 'b.lan', ed), '[a.lan]:2222', ed);
    expect(
      renderLock(lock),
    ).toBe(`# What meshwright has resolved for the cluster file beside it: commit it, review its changes.
# It is written by meshwright; a host key is pinned by \`meshwright enroll\`.
lock: 1
hostKeys:
  "[a.lan]:2222":
    - "ssh-ed25519 ${ed.base64}"
  "b.lan":
    - "ssh-ed25519 ${ed.base64}"
    - "ssh-rsa ${rsa.base64}"
`);
  });

  it('is read back as it was written, including the line number of every host key', () => {
    const lock = withPin(withPin(emptyLock('cluster.lock'), 'fe80::1%en0', ed), 'a.lan', rsa);
    expect(parseLock(renderLock(lock), 'cluster.lock')).toEqual({ lock, diagnostics: [] });
    expect(lock.hostKeys).toEqual({ 'a.lan': [{ ...rsa, line: 6 }], 'fe80::1%en0': [{ ...ed, line: 8 }] });
  });

  it('gets a new pin in place of the old key of the same type', () => {
    const first = withPin(withPin(emptyLock('cluster.lock'), 'a.lan', ed), 'a.lan', rsa);
    const other = key('ssh-ed25519', 9);
    const second = withPin(first, 'a.lan', other);
    expect(second.hostKeys['a.lan']?.map((one) => one.base64)).toEqual([other.base64, rsa.base64]);
    expect(first.hostKeys['a.lan']?.map((one) => one.base64)).toEqual([ed.base64, rsa.base64]);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])('can pin the address %s', (name) => {
    const lock = withPin(emptyLock('cluster.lock'), name, ed);
    expect(lock.hostKeys).toEqual({ [name]: [{ ...ed, line: 6 }] });
    expect(parseLock(renderLock(lock), 'cluster.lock')).toEqual({ lock, diagnostics: [] });
  });

  it('has one line per entry in a stable order', () => {
    expect(renderLock({ ...withPin(whole, 'a.lan', ed), nodes: ['b', 'a'] })).toBe(
      `# What meshwright has resolved for the cluster file beside it: commit it, review its changes.
# It is written by meshwright; a host key is pinned by \`meshwright enroll\`.
lock: 1
hostKeys:
  "a.lan":
    - "ssh-ed25519 ${ed.base64}"
nodes:
  - "a"
  - "b"
identities:
  "a": "${sha('d')}"
links:
  "a:2 <-> b:2": "10.77.0.0/30"
  "a:3 <-> c:2": "10.77.0.4/30"
formerNetworks:
  "10.77.0.8/30": "a:4 <-> d:2"
runtimes:
  "reference": "${sha('a')} 123456"
rolledBack:
  "reference": "${sha('e')} ${sha('a')}"
models:
  "kimi":
    source: "hf:acme/kimi"
    commit: "${'f'.repeat(40)}"
    access: public
    files:
      "config.json": "${sha('b')} 2"
  "tiny":
    source: "./models/tiny"
    files:
      "config.json": "${sha('b')} 0"
      "weights/part-1.bin": "${sha('c')} 735000000000"
`,
    );
  });

  it('is refused if it uses the former name of a key, and the error shows the new name', () => {
    const older = renderLock(whole).replace('rolledBack:', 'takenBack:');
    const { lock, diagnostics } = parseLock(older, 'cluster.lock');
    expect(lock).toBeUndefined();
    expect(diagnostics).toMatchObject([
      {
        code: 'schema/unknown-key',
        detail: 'The key `takenBack` is now called `rolledBack`.',
        hint: 'Rename the key. Its values stay the same.',
      },
    ]);
  });

  it('keeps all other sections when a pin is added', () => {
    expect(parseLock(renderLock(whole), 'cluster.lock')).toEqual({ lock: whole, diagnostics: [] });
    const { hostKeys, ...others } = withPin(whole, 'a.lan', ed);
    expect({ ...others, hostKeys: {} }).toEqual(whole);
    expect(Object.keys(hostKeys)).toEqual(['a.lan']);
  });

  it("accepts a link's ends in either order", () => {
    const { lock } = parseLock('lock: 1\nlinks: { "b:2 <-> a:2": 10.77.0.0/30 }\n', 'cluster.lock');
    expect(lock?.links).toEqual({ 'a:2 <-> b:2': { address: '10.77.0.0', prefixLength: 30 } });
  });

  it('can be empty', () => {
    const text = renderLock(emptyLock('cluster.lock'));
    expect(parseLock(text, 'cluster.lock')).toEqual({ lock: emptyLock('cluster.lock'), diagnostics: [] });
    expect(parseLock('lock: 1\n', 'cluster.lock').lock?.hostKeys).toEqual({});
  });

  it.each([
    ['lock: 2\n', 'schema/unsupported-version', 1, 7],
    ['lock: 1\nhostKeys: { "-oX": ["ssh-rsa AAAAAAAAAAAAAAAA"] }\n', 'schema/unsafe-text', 2, 13],
    ['lock: 1\nhostKeys: { a.lan: [ssh-rsa] }\n', 'schema/bad-form', 2, 21],
    ['lock: 1\nprebootKeys: { a.lan: ["ssh-rsa AAAAAAAAAAAAAAAA"] }\n', 'lock/bad-host-key', 2, 24],
    ['lock: 1\nhostKeys: { a.lan: [] }\n', 'schema/out-of-range', 2, 20],
    ['lock: 1\nlinks: { a:2 <-> b:2: 10.77.0.2/30 }\n', 'lock/bad-network', 2, 23],
    ['lock: 1\nlinks: { A:2 <-> b:2: 10.77.0.0/30 }\n', 'schema/bad-name', 2, 10],
    [`lock: 1\nruntimes: { a: ${'A'.repeat(64)} 1 }\n`, 'schema/bad-form', 2, 16],
    ['lock: 1\nmodels: { a: {} }\n', 'schema/missing-key', 2, 11],
    ['lock: 1\nmodels: { a: { source: ./a, files: {} } }\n', 'schema/out-of-range', 2, 36],
    [`lock: 1\nmodels: { a: { source: a, files: { b: ${'a'.repeat(64)} 1 } } }\n`, 'schema/bad-form', 2, 24],
    ['lock: 1\nnodes: [A]\n', 'schema/bad-form', 2, 9],
    ['<<<<<<< ours\nlock: 1\n', 'yaml/syntax', 1, 1],
    ['', 'yaml/empty', 1, 1],
  ])('is rejected if its content is %j', (text, code, line, column) => {
    const { lock, diagnostics } = parseLock(text, 'cluster.lock');
    expect(lock).toBeUndefined();
    expect(diagnostics[0]).toMatchObject({ code, where: { file: 'cluster.lock', line, column } });
  });
});
