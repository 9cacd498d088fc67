import { describe, expect, it } from 'vitest';
import { emptyLock, parseLock } from '../../../src/config/lock.ts';
import { renderLock, withPin } from '../../../src/config/lock-text.ts';
import type { HostKey } from '../../../src/model/cluster-lock.ts';

/** A key whose base64 holds its own type, as real ones do. */
function key(type: string, filler: number): HostKey {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(type.length);
  return { type, base64: Buffer.concat([head, Buffer.from(type), Buffer.alloc(39, filler)]).toString('base64') };
}

const ed = key('ssh-ed25519', 1);
const rsa = key('ssh-rsa', 2);

describe('cluster.lock', () => {
  it('is written sorted, one key per line', () => {
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

  it('reads back what was written, with the line of every key', () => {
    const lock = withPin(withPin(emptyLock('cluster.lock'), 'fe80::1%en0', ed), 'a.lan', rsa);
    expect(parseLock(renderLock(lock), 'cluster.lock')).toEqual({ lock, diagnostics: [] });
    expect(lock.hostKeys).toEqual({ 'a.lan': [{ ...rsa, line: 6 }], 'fe80::1%en0': [{ ...ed, line: 8 }] });
  });

  it('replaces a key of the same type and keeps the others', () => {
    const first = withPin(withPin(emptyLock('cluster.lock'), 'a.lan', ed), 'a.lan', rsa);
    const other = key('ssh-ed25519', 9);
    const second = withPin(first, 'a.lan', other);
    expect(second.hostKeys['a.lan']?.map((one) => one.base64)).toEqual([other.base64, rsa.base64]);
    expect(first.hostKeys['a.lan']?.map((one) => one.base64)).toEqual([ed.base64, rsa.base64]);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])('pins a node whose address is %s', (name) => {
    const lock = withPin(emptyLock('cluster.lock'), name, ed);
    expect(lock.hostKeys).toEqual({ [name]: [{ ...ed, line: 6 }] });
    expect(parseLock(renderLock(lock), 'cluster.lock')).toEqual({ lock, diagnostics: [] });
  });

  it('may pin nothing', () => {
    const text = renderLock(emptyLock('cluster.lock'));
    expect(parseLock(text, 'cluster.lock')).toEqual({ lock: emptyLock('cluster.lock'), diagnostics: [] });
    expect(parseLock('lock: 1\n', 'cluster.lock').lock?.hostKeys).toEqual({});
  });

  it.each([
    ['lock: 2\n', 'schema/unsupported-version', 1, 7],
    ['lock: 1\nhostKeys: { "-oX": ["ssh-rsa AAAAAAAAAAAAAAAA"] }\n', 'schema/unsafe-text', 2, 13],
    ['lock: 1\nhostKeys: { a.lan: [ssh-rsa] }\n', 'schema/bad-form', 2, 21],
    ['lock: 1\nhostKeys: { a.lan: [] }\n', 'schema/out-of-range', 2, 20],
    ['<<<<<<< ours\nlock: 1\n', 'yaml/syntax', 1, 1],
    ['', 'yaml/empty', 1, 1],
  ])('is refused when it is %j', (text, code, line, column) => {
    const { lock, diagnostics } = parseLock(text, 'cluster.lock');
    expect(lock).toBeUndefined();
    expect(diagnostics[0]).toMatchObject({ code, where: { file: 'cluster.lock', line, column } });
  });
});
