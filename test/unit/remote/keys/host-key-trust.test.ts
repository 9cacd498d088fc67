import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { trustFor } from '../../../../src/remote/keys/host-key-trust.ts';
import { edKey, fields } from '../wire.ts';

const keyOf = (blob: Buffer) => ({
  blob,
  line: `ssh-ed25519 ${blob.toString('base64')}`,
  base64: blob.toString('base64'),
});
const [here, other] = [keyOf(edKey(1)), keyOf(edKey(2))];
const target = { host: 'studio-1.lan', port: 22 };
const file = (...lines: readonly string[]) => ({
  knownHosts: [{ file: 'known_hosts', text: `${lines.join('\n')}\n` }],
});
const verdict = (sources: Parameters<typeof trustFor>[1], at = target) => trustFor(at, sources).judge(here.blob);

describe('the verdict on a host key', () => {
  it('is accepted, and names the matching line', () => {
    expect(verdict(file('# mine', `studio-1.lan,10.0.0.7 ${here.line} comment`))).toMatchObject({
      kind: 'accepted',
      known: { file: 'known_hosts', line: 2 },
    });
  });

  it('is unknown if there is no line for the node', () => {
    expect(verdict(file(`studio-2.lan ${here.line}`)).kind).toBe('unknown');
    expect(verdict({ knownHosts: [] }).kind).toBe('unknown');
  });

  it('is changed, and names the line of a different known key', () => {
    expect(verdict(file('', `studio-1.lan ${other.line}`))).toMatchObject({
      kind: 'changed',
      known: { line: 2, base64: other.base64 },
    });
  });

  it('is revoked even if a good line or a pin has the key', () => {
    const lines = [`studio-1.lan ${here.line}`, `@revoked * ${here.line}`];
    const lock = {
      file: 'cluster.lock',
      hostKeys: { 'studio-1.lan': [{ type: 'ssh-ed25519', base64: here.base64, line: 3 }] },
    };
    expect(verdict(file(...lines))).toMatchObject({ kind: 'revoked', known: { line: 2 } });
    expect(verdict({ ...file(...lines), lock }).kind).toBe('revoked');
    expect(verdict(file(`studio-1.lan ${here.line}`, `@revoked studio-2.lan ${here.line}`)).kind).toBe('accepted');
  });

  it('names a certificate authority only if the node has no plain key', () => {
    const authority = `@cert-authority *.lan ${other.line}`;
    expect(verdict(file(authority))).toMatchObject({ kind: 'certificate-authority', known: { line: 1 } });
    expect(verdict(file(authority, `studio-1.lan ${here.line}`)).kind).toBe('accepted');
    expect(verdict(file(authority, `studio-1.lan ${other.line}`)).kind).toBe('changed');
  });

  it('uses only the pins in cluster.lock if they include the address', () => {
    const pin = (name: string, key: typeof here) => ({
      file: 'cluster.lock',
      hostKeys: { [name]: [{ type: 'ssh-ed25519', base64: key.base64, line: 9 }] },
    });
    const sources = file(`studio-1.lan ${other.line}`);
    expect(verdict({ ...sources, lock: pin('studio-1.lan', here) }).kind).toBe('accepted');
    expect(verdict({ ...file(`studio-1.lan ${here.line}`), lock: pin('studio-1.lan', other) })).toMatchObject({
      kind: 'changed',
      known: { file: 'cluster.lock', line: 9 },
    });
    expect(verdict({ ...sources, lock: pin('[studio-1.lan]:2222', here) }).kind).toBe('changed');
    expect(verdict({ knownHosts: [], lock: pin('toString', here) }, { host: 'constructor', port: 22 }).kind).toBe(
      'unknown',
    );
  });

  it('matches hashed names that include the port', () => {
    const salt = Buffer.alloc(20, 7);
    const hashed = `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update('[studio-1.lan]:2222').digest('base64')}`;
    expect(verdict(file(`${hashed} ${here.line}`), { host: 'STUDIO-1.lan', port: 2222 }).kind).toBe('accepted');
    expect(verdict(file(`${hashed} ${here.line}`)).kind).toBe('unknown');
  });

  it("does not accept a certificate authority's key for the bare host", () => {
    const authority = file(`@cert-authority studio-1.lan ${here.line}`);
    expect(verdict(authority, { host: 'studio-1.lan', port: 2_222 }).kind).not.toBe('accepted');
  });

  it('uses the bare host only if the name with its port is unknown, like OpenSSH', () => {
    const at = { host: 'studio-1.lan', port: 2222 };
    expect(verdict(file(`studio-1.lan ${here.line}`), at).kind).toBe('accepted');
    expect(verdict(file(`studio-1.lan ${here.line}`, `[studio-1.lan]:2222 ${other.line}`), at).kind).toBe('changed');
    expect(verdict(file(`studio-1.lan ${other.line}`), at).kind).toBe('unknown');
  });

  it('uses HostKeyAlias if set', () => {
    const trust = trustFor(
      { ...target, port: 2222, hostKeyAlias: 'rack' },
      file(`rack ${here.line}`, `[studio-1.lan]:2222 ${other.line}`),
    );
    expect(trust).toMatchObject({ name: 'rack' });
    expect(trust.judge(here.blob).kind).toBe('accepted');
  });

  it('is unreadable for malformed bytes', () => {
    const longer = Buffer.concat([here.blob, Buffer.from([0])]);
    for (const blob of [Buffer.alloc(0), Buffer.from('hello'), here.blob.subarray(0, 40), longer]) {
      expect(trustFor(target, file(`studio-1.lan ${here.line}`)).judge(blob)).toEqual({ kind: 'unreadable' });
    }
  });

  it('is found quickly for hostile patterns', () => {
    const pattern = `${'*a'.repeat(400)}b`;
    const lines: string[] = Array(200).fill(`${pattern} ${here.line}`);
    expect(verdict(file(...lines), { host: `${'a'.repeat(60)}.lan`, port: 22 }).kind).toBe('unknown');
  });
});

describe('the order of host-key algorithms', () => {
  const ecdsa = 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABB';
  const p256 = (): string => {
    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const coordinates = [jwk.x, jwk.y].map((one) => Buffer.from(one ?? '', 'base64url'));
    const point = Buffer.concat([Buffer.from([4]), ...coordinates]);
    return `ecdsa-sha2-nistp256 ${fields('ecdsa-sha2-nistp256', 'nistp256', point).toString('base64')}`;
  };

  it('begins with known types', () => {
    expect(trustFor(target, file(`studio-1.lan ${p256()}`)).algorithms[0]).toBe('ecdsa-sha2-nistp256');
    expect(trustFor(target, file(`studio-1.lan ${here.line}`)).algorithms[0]).toBe('ssh-ed25519');
    expect(trustFor(target, { knownHosts: [] }).algorithms[0]).toBe('ssh-ed25519');
  });

  it('contains only SHA-2 signatures for RSA keys', () => {
    const jwk = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
    const modulus = Buffer.concat([Buffer.from([0]), Buffer.from(jwk.n ?? '', 'base64url')]);
    const blob = fields('ssh-rsa', Buffer.from(jwk.e ?? '', 'base64url'), modulus);
    const trust = trustFor(target, file(`studio-1.lan ssh-rsa ${blob.toString('base64')}`));
    expect(trust.algorithms.slice(0, 2)).toEqual(['rsa-sha2-512', 'rsa-sha2-256']);
    expect(trust.algorithms).not.toContain('ssh-rsa');
    expect(trust.judge(blob).kind).toBe('accepted');
  });

  it('ignores types from malformed lines', () => {
    expect(trustFor(target, file(`studio-1.lan ${ecdsa}`, 'studio-1.lan')).algorithms[0]).toBe('ssh-ed25519');
  });
});
