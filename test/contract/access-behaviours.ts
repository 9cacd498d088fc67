import { expect } from 'vitest';
import { byPassword as byOwnPassword, installAccess, trustedTarget } from '../../src/cli/enroll/enroll-access.ts';
import { nodeName } from '../../src/model/node.ts';
import { concealed } from '../../src/model/secret.ts';
import { connect, run } from '../rack/running.ts';
import type { Behaviour } from './behaviours.ts';
import type { ContractRack } from './contract-rack.ts';

const node = 'studio-1';

const byPassword = ({ fleet }: ContractRack, password: string) => connect(fleet, node, { privateKey: '', password });

/** Runs one command after a login by password, with this standard input. */
async function typed(rack: ContractRack, script: string, input: string) {
  const client = await byPassword(rack, 'simulated');
  const { code, stdout, stderr } = await run(client, `R='${rack.fleet.nodes[node]?.root ?? ''}'\n${script}`, input);
  client.end();
  return [code, stdout, stderr];
}

const asRoot = `"$R/usr/bin/sudo" -S -p '' -k "$R/bin/sh" -c`;
const rule = 'mesh ALL=(root) NOPASSWD: /bin/sh -s';

/** The behavior of a Mac that is not enrolled. */
export const accessBehaviours: readonly Behaviour[] = [
  {
    title: 'refuses new connections after Remote Login is switched off, and keeps open ones',
    check: async ({ fleet, user }) => {
      const there = await connect(fleet, node);
      const print = () => run(there, `'${fleet.nodes[node]?.root ?? ''}/bin/launchctl' print system/com.openssh.sshd`);
      expect((await print()).code).toBe(0);
      await fleet.setFault(['remote-login-off', node]);
      await expect(connect(fleet, node)).rejects.toThrow('ECONNREFUSED');
      const output = 'Bad request.\nCould not find service "com.openssh.sshd" in domain for system\n';
      expect(await print()).toMatchObject({ code: 113, stdout: '', stderr: output });
      expect((await fleet.hands()).done).toEqual([`enabled Remote Login on ${node} in Sharing`]);
      expect((await user(node, 'printf here')).stdout).toBe('here');
      expect((await print()).code).toBe(0);
      there.end();
    },
  },
  {
    title: "accepts only the account's password while no key is installed",
    check: async (rack) => {
      await rack.fleet.setFault(['not-enrolled', node]);
      await expect(connect(rack.fleet, node)).rejects.toThrow('All configured authentication methods failed');
      await expect(byPassword(rack, 'wrong')).rejects.toThrow('All configured authentication methods failed');
      expect(await typed(rack, '"$R/usr/bin/id" -un', '')).toEqual([0, 'mesh\n', '']);
    },
  },
  {
    title: 'passes the password from standard input to sudo, which refuses a wrong one in its own words',
    check: async (rack) => {
      await rack.fleet.setFault(['not-enrolled', node]);
      const become = `${asRoot} '"$R/usr/bin/id" -u' `.replaceAll('$R', rack.fleet.nodes[node]?.root ?? '');
      expect(await typed(rack, become, 'simulated\n')).toEqual([0, '0\n', '']);
      expect(await typed(rack, become, 'wrong\n')).toEqual([
        1,
        '',
        'Sorry, try again.\n\nsudo: no password was provided\nsudo: 1 incorrect password attempt\n',
      ]);
    },
  },
  {
    title: 'accepts a key as soon as it is installed, and lets sudo do only what a valid rule allows',
    check: async (rack) => {
      await rack.fleet.setFault(['not-enrolled', node]);
      const root = rack.fleet.nodes[node]?.root ?? '';
      const key = rack.fleet.userKey.publicText.trim();
      const place = `umask 077; "$R/bin/mkdir" -p "$HOME/.ssh"; printf '%s\\n' '${key}' >"$HOME/.ssh/authorized_keys"`;
      expect(await typed(rack, place, '')).toEqual([0, '', '']);
      const before = await rack.user(node, '"$R/usr/bin/sudo" -n "$R/bin/sh" -s </dev/null');
      expect([before.code, before.stderr]).toEqual([1, 'sudo: a password is required\n']);
      const file = `${root}/private/etc/sudoers.d/meshwright`;
      const put = `printf "%s\\n" "${rule}" >"${file}" && "${root}/bin/chmod" 0440 "${file}" && "${root}/usr/sbin/visudo" -cf "${file}"`;
      const placed = await typed(rack, `${asRoot} '${put}'`, 'simulated\n');
      expect(placed).toEqual([0, `${file}: parsed OK\n`, '']);
      expect((await rack.root(node, '"$R/usr/bin/id" -u')).stdout).toBe('0\n');
      const other = await rack.user(node, '"$R/usr/bin/sudo" -n "$R/usr/bin/id" -u');
      expect([other.code, other.stderr]).toEqual([1, 'sudo: a password is required\n']);
      const bad = await rack.user(
        node,
        `printf 'mesh ALL=(root NOPASSWD: /bin/sh\\n' >"$R/tmp/r"; "$R/usr/sbin/visudo" -cf "$R/tmp/r"`,
      );
      expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('syntax error')]);
      await rack.root(node, `"$R/bin/rm" -f "${file}"`);
    },
  },
  {
    title: 'shows a separate key at FileVault, accepts and confirms the password there, and starts macOS',
    check: async ({ fleet, user }) => {
      await fleet.setFault(['filevault-locked', node]);
      let key = '';
      const client = await connect(fleet, node, {
        hostVerifier: (blob: Buffer) => {
          key = blob.toString('base64');
          return true;
        },
        privateKey: '',
        password: 'simulated',
      });
      const output = await new Promise<string>((resolve, reject) => {
        let text = '';
        client.once('close', () => resolve(text));
        client.shell(false, (error, channel) => {
          if (error) reject(error);
          else channel.on('data', (chunk: Buffer) => (text += chunk));
        });
      });
      expect(output.replaceAll('\r', '')).toBe('System successfully unlocked.\n');
      expect([fleet.nodes[node]?.prebootKey, fleet.nodes[node]?.hostKey]).toEqual([
        expect.stringContaining(key),
        expect.not.stringContaining(key),
      ]);
      await expect.poll(async () => (await user(node, 'echo up')).stdout).toBe('up\n');
    },
  },
  {
    title: 'is enrolled once by the product with the password, and stays unchanged the second time',
    check: async (rack) => {
      await rack.fleet.setFault(['not-enrolled', node]);
      const { port = 0, user = '', root = '', hostKey = '' } = rack.fleet.nodes[node] ?? {};
      const [type = '', base64 = ''] = hostKey.split(' ');
      const target = { label: node, host: '127.0.0.1', port, user, rootPrefix: root, identityFiles: [] };
      const way = trustedTarget(target, { type, base64 }, 'the lock');
      const key = rack.fleet.userKey.publicText.split(' ').slice(0, 2).join(' ').trim();
      const install = (password: string) =>
        installAccess(
          { node: nodeName(node), way, password: concealed(password), key, logIn: byOwnPassword(concealed(password)) },
          { deadlineMs: 20_000 },
        );
      expect((await install('wrong')).diagnostics.map(({ code }) => code)).toEqual(['ssh/password-refused']);
      expect(await install('simulated')).toEqual({ answer: { key: 'added', rule: 'added' }, diagnostics: [] });
      expect(await install('simulated')).toEqual({ answer: { key: 'kept', rule: 'kept' }, diagnostics: [] });
      expect((await rack.root(node, '"$R/usr/bin/id" -u')).stdout).toBe('0\n');
      await rack.root(node, '"$R/bin/rm" -f "$R/etc/sudoers.d/meshwright"');
    },
  },
];
