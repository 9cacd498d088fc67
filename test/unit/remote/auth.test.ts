import ssh2, { type AuthHandlerMiddleware, type ParsedKey } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { publickeyOnly } from '../../../src/remote/connect.ts';
import type { Offer } from '../../../src/remote/keys/identities.ts';

const weak = new Error('the node accepts RSA signatures with SHA-1 only');

/** A key of the given type whose signature names the data and hash. */
function keyOf(type: string): ParsedKey {
  const key = { type, sign: (data: unknown, hash?: string) => `${data} signed by ${hash}` };
  return key as unknown as ParsedKey;
}

/** A record of login events, and an agent that signs or fails with the given error. */
function makeCase(error?: Error) {
  const calls: unknown[] = [];
  const record = {
    refused: (methods: readonly string[], isPartial: boolean) => calls.push(['refused', methods, isPartial]),
    asked: (label: string) => calls.push(['asked', label]),
    signed: (label: string) => calls.push(['signed', label]),
  };
  const agent = {
    sign: (key: ParsedKey, data: unknown, options: unknown, done: (error?: Error, signature?: unknown) => void) => {
      calls.push(['sign', key.type, data, options]);
      done(error, error === undefined ? 'signature' : undefined);
    },
  };
  const offer = (label: string, kind: 'file' | 'agent', type = 'ssh-ed25519'): Offer => ({
    label,
    key: keyOf(type),
    signer: kind === 'file' ? { kind } : { kind, agent: agent as never },
  });
  return { calls, record, offer };
}

type Method = { readonly type: string; readonly username: string; readonly key?: ParsedKey; readonly agent?: Agent };
interface Agent {
  readonly getIdentities: (done: (error: unknown, keys: readonly ParsedKey[]) => void) => void;
  readonly sign: (key: unknown, data: unknown, options: unknown, done: (...given: unknown[]) => void) => unknown;
}

/** The method that the handler tries next. `left` lists the remaining methods; it is null at first. */
function tried(handler: AuthHandlerMiddleware, left: readonly string[] | null, isPartial: boolean | null = false) {
  let method: unknown;
  const result: unknown = handler(
    left as never,
    isPartial as never,
    ((given: unknown) => {
      method = given;
    }) as never,
  );
  return (result ?? method) as Method;
}

describe('a login with keys', () => {
  it('tries keys in order until the node accepts no more keys', async () => {
    const { calls, record, offer } = makeCase();
    const start = () => publickeyOnly('mesh', [offer('one', 'file'), offer('two', 'file')], record);
    const handler = await start();
    const key = { type: 'publickey', username: 'mesh', key: expect.objectContaining({ type: 'ssh-ed25519' }) };
    expect([null, ['publickey'], ['publickey']].map((left) => tried(handler, left))).toEqual([key, key, false]);
    expect(calls.splice(0)).toEqual([
      ['refused', ['publickey'], false],
      ['refused', ['publickey'], false],
    ]);
    const shut = await start();
    expect([tried(shut, null, null), tried(shut, ['password'])]).toEqual([key, false]);
    const more = await start();
    expect([tried(more, null), tried(more, ['publickey'], true)]).toEqual([key, false]);
    expect(calls).toEqual([
      ['refused', ['password'], false],
      ['refused', ['publickey'], true],
    ]);
    expect(tried(await publickeyOnly('mesh', [], record), null)).toBe(false);
  });

  it("queries the remaining methods once after an agent's last key", async () => {
    const { record, offer } = makeCase();
    const agent = { type: 'agent', username: 'mesh', agent: expect.any(ssh2.OpenSSHAgent) };
    const none = { type: 'none', username: 'mesh' };
    const handler = await publickeyOnly('mesh', [offer('one', 'agent')], record);
    const left = [null, ['publickey'], ['publickey']];
    expect(left.map((one) => tried(handler, one))).toEqual([agent, none, false]);
    const mixed = await publickeyOnly('mesh', [offer('one', 'agent'), offer('two', 'file')], record);
    expect(left.map((one) => tried(mixed, one)).map((one) => one.type)).toEqual(['agent', 'publickey', undefined]);
  });

  it('signs with RSA key files only with SHA-2', async () => {
    const { record, offer } = makeCase();
    const signs = async (type: string, hash?: string) => {
      const { key } = tried(await publickeyOnly('mesh', [offer('one', 'file', type)], record), null);
      return key?.sign('data', hash);
    };
    for (const hash of ['sha256', 'sha512']) expect(await signs('ssh-rsa', hash)).toBe(`data signed by ${hash}`);
    for (const hash of [undefined, 'sha1']) {
      expect(await signs('ssh-rsa', hash)).toEqual(weak);
      expect(await signs('ssh-ed25519', hash)).toBe(`data signed by ${hash}`);
    }
  });

  it('lets the agent sign RSA only with SHA-2 and records whether it signed', async () => {
    const ask = async (type: string, hash: string | undefined, error?: Error) => {
      const { calls, record, offer } = makeCase(error);
      const { agent } = tried(await publickeyOnly('mesh', [offer('one', 'agent', type)], record), null);
      if (agent === undefined) throw new Error('no agent');
      agent.getIdentities((...given) => calls.push(['keys', given[0], given[1].map((key) => key.type)]));
      calls.push(agent.sign('another key', 'data', { hash }, (...given) => calls.push(['done', ...given])));
      return calls;
    };
    const keys = (type: string) => ['keys', undefined, [type]];
    expect(await ask('ssh-rsa', 'sha512')).toEqual([
      keys('ssh-rsa'),
      ['asked', 'one'],
      ['sign', 'ssh-rsa', 'data', { hash: 'sha512' }],
      ['signed', 'one'],
      ['done', undefined, 'signature'],
      true,
    ]);
    const declined = new Error('declined');
    expect(await ask('ssh-ed25519', undefined, declined)).toEqual([
      keys('ssh-ed25519'),
      ['asked', 'one'],
      ['sign', 'ssh-ed25519', 'data', { hash: undefined }],
      ['done', declined, undefined],
      true,
    ]);
    expect(await ask('ssh-rsa', 'sha1')).toEqual([keys('ssh-rsa'), ['done', weak], true]);
  });
});
