import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parsePlaintext } from '../../../src/remote/connect-failure.ts';
import { limiter } from '../../../src/remote/limit-parallel.ts';
import {
  agentSocketOf,
  expandPath,
  type HostConfig,
  parseSshConfig,
  type ReachEnv,
  type SshConfig,
} from '../../../src/remote/resolve-reach.ts';
import { rejection } from '../../sshd/ssh-case.ts';
import { field } from './wire.ts';

const env: ReachEnv = {
  command: 'ssh',
  home: '/Users/ana',
  userName: 'ana',
  hostName: 'desk.lan',
  variables: { SSH_AUTH_SOCK: '/run/agent', OTHER: '/run/other', EMPTY: '' },
};
const config: SshConfig = {
  hostName: 'mac.lan',
  port: 2_200,
  user: 'mesh',
  identityFiles: [],
  isIdentitiesOnly: false,
  knownHostsFiles: [],
};
const asked = (more: Partial<SshConfig> = {}): HostConfig => ({ host: 'mac', config: { ...config, ...more } });

describe('a path in ssh_config', () => {
  it('has every token expanded', () => {
    const all = '/%n/%h/%p/%r/%u/%d/%L/%l/%k/%i/j%j/%%/%C';
    const hash = createHash('sha1').update('desk.lanmac.lan2200mesh').digest('hex');
    expect(expandPath(all, asked(), env)).toBe(
      `/mac/mac.lan/2200/mesh/ana/Users/ana/desk/desk.lan/mac.lan/${process.getuid?.()}/j/%/${hash}`,
    );
    const jumped = asked({ proxyJump: 'bastion', hostKeyAlias: 'rack' });
    const jumpedHash = createHash('sha1').update('desk.lanmac.lan2200meshbastion').digest('hex');
    expect(expandPath('/%j/%k/%C', jumped, env)).toBe(`/bastion/rack/${jumpedHash}`);
  });

  it('expands the home folder and variables', () => {
    const paths = ['~', '~/x', '~x', '/a/~/b', '/${OTHER}x', '/a${MISSING}b'];
    expect(paths.map((path) => expandPath(path, asked(), env))).toEqual([
      '/Users/ana',
      '/Users/ana/x',
      `${process.cwd()}/~x`,
      '/a/~/b',
      '/run/otherx',
      '/ab',
    ]);
  });

  it.each(['%q', '%', '%x'])('is rejected if it contains the token %s', async (token) => {
    const given = Promise.resolve().then(() => expandPath(`/a/${token}`, asked(), env));
    expect(await rejection(given)).toMatchObject({
      code: 'ssh/config-unsupported',
      detail: `Your ssh_config has the path "/a/${token}" for mac, but ${token} is not a valid token there.`,
      hint: 'Remove the token from the path.',
    });
  });

  it('names the agent socket directly or through a variable', () => {
    const wanted = [undefined, 'SSH_AUTH_SOCK', 'none', '$OTHER', '${OTHER}', '$MISSING', '$EMPTY', '~/agent', '/%u'];
    const sockets = wanted.map((one) => agentSocketOf(asked(one === undefined ? {} : { identityAgent: one }), env));
    const [own, other] = ['/run/agent', '/run/other'];
    expect(sockets).toEqual([own, own, undefined, other, other, undefined, undefined, '/Users/ana/agent', '/ana']);
  });
});

describe('the output of ssh -G', () => {
  const read = (...lines: readonly string[]) =>
    parseSshConfig(['hostname mac', 'user mesh', 'port 22', ...lines].join('\n'));

  it('omits values of none, and uses the first of several values', () => {
    const least = { ...config, hostName: 'mac', port: 22 };
    expect(read()).toEqual(least);
    expect(read('identityfile none', 'userknownhostsfile none', 'hostkeyalias none', 'proxycommand none')).toEqual(
      least,
    );
    expect(read('identityfile ~/a', 'IdentityFile ~/b\r', 'user other', 'identitiesonly no', 'noise')).toEqual({
      ...least,
      identityFiles: ['~/a', '~/b'],
    });
    const words = 'identityagent none|proxycommand nc %h|hostkeyalias rack|revokedhostkeys /k|proxyjump b'.split('|');
    expect(read(...words, 'userknownhostsfile ~/a b ~/c  /d', 'globalknownhostsfile /e')).toEqual({
      ...least,
      identityAgent: 'none',
      proxyCommand: 'nc %h',
      hostKeyAlias: 'rack',
      revokedHostKeys: '/k',
      proxyJump: 'b',
      knownHostsFiles: ['~/a b', '~/c ', '/d', '/e'],
    });
    expect(parseSshConfig('hostname mac\nuser mesh\nport 2.5')).toBeUndefined();
  });
});

describe("a server's bytes before encryption", () => {
  const intro = 'SSH-2.0-x\r\n';
  const lists = ['kex', 'key', 'c', 's', 'mac', 'm', '', '', '', ''];
  const phase = (packet: Buffer) => parsePlaintext(Buffer.concat([Buffer.from(intro), packet])).offer;
  const packetOf = (names: readonly string[], kind = 20, padding = 4) => {
    const lists = [Buffer.alloc(16), ...names.map(field), Buffer.alloc(5)];
    return field(Buffer.concat([Buffer.from([padding, kind]), ...lists, Buffer.alloc(padding)]));
  };

  it('consist of a greeting of at most 1,024 characters, then an identification', () => {
    const long = 'x'.repeat(2_000);
    const [greeting, identification] = [long.slice(0, 1_024), 'SSH-2.0-x'];
    expect(parsePlaintext(Buffer.from(long))).toEqual({ greeting });
    expect(parsePlaintext(Buffer.from(`${long}\n${intro}`))).toEqual({ greeting, identification });
    const other = 'a SSH-2.0-y\n';
    expect(parsePlaintext(Buffer.from(`${other}${intro}`))).toEqual({ greeting: other, identification });
  });

  it('give an algorithm offer once five lists are complete', () => {
    const offer = { kex: ['kex'], hostKey: ['key'], cipher: ['c'], mac: ['mac'] };
    for (const count of [5, 6, 10, 12]) expect(phase(packetOf(lists.slice(0, count)))).toEqual(offer);
    for (const count of [0, 1, 2, 3, 4]) {
      expect(phase(field(packetOf(lists.slice(0, count)).subarray(4, -9)))).toBeUndefined();
    }
    expect(phase(packetOf(lists, 21))).toBeUndefined();
    // Only the padding may be missing.
    expect(phase(packetOf(lists).subarray(0, -4))).toEqual(offer);
    for (const cut of [5, 30, 60]) expect(phase(packetOf(lists).subarray(0, -cut))).toBeUndefined();
    expect(phase(packetOf(lists).subarray(0, 5))).toBeUndefined();
  });
});

describe('a limiter for parallel work', () => {
  it('starts waiting work in order, even after a failure', async () => {
    const run = limiter(2);
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string) =>
      run(async () => {
        started.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (name === 'a') throw new Error('failed');
        return name;
      });
    const all = ['a', 'b', 'c', 'd'].map(work);
    const settled = Promise.allSettled(all);
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect(started).toEqual(['a', 'b']);
    ends.shift()?.();
    await turn();
    expect(started).toEqual(['a', 'b', 'c']);
    for (let more = 0; more < 3; more += 1) {
      ends.shift()?.();
      await turn();
    }
    const ended = (await settled).map((one) => (one.status === 'fulfilled' ? one.value : 'failed'));
    expect(ended).toEqual(['failed', 'b', 'c', 'd']);
    const again = ['e', 'f', 'g'].map(work);
    await turn();
    expect(started.slice(4)).toEqual(['e', 'f']);
    while (ends.length > 0) {
      ends.shift()?.();
      await turn();
    }
    expect(await Promise.all(again)).toEqual(['e', 'f', 'g']);
  });
});
