import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nodeSubject } from '../../../src/model/subject.ts';
import { askSsh, type SshQuestion } from '../../../src/remote/resolve-reach.ts';
import { rejection } from '../../sshd/ssh-case.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const { at, write } = temporaryFolder();

/** Runs askSsh with a script in place of ssh. */
function ask(script: string, question: Partial<SshQuestion> = {}, configFile?: string) {
  const command = write('ssh', `#!/bin/sh\n${script}\n`, 0o755);
  const names = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'SSH_AUTH_SOCK', 'SECRET'];
  const variables = { PATH: process.env['PATH'], ...Object.fromEntries(names.map((name) => [name, `my ${name}`])) };
  return askSsh(
    { label: 'studio-1', host: 'mac', ...question },
    { command, variables, ...(configFile === undefined ? {} : { configFile }) },
  );
}

const answer = 'printf "hostname mac.lan\\nuser mesh\\nport 2200\\n"';
const config = {
  hostName: 'mac.lan',
  port: 2_200,
  user: 'mesh',
  identityFiles: [],
  isIdentitiesOnly: false,
  knownHostsFiles: [],
};

describe('askSsh', () => {
  it('passes known options and only a few environment variables to ssh', async () => {
    const [args, env] = [at('args'), at('env')];
    const spy = `printf '%s\\n' "$@" >'${args}'; env >'${env}'; ${answer}`;
    expect(await ask(spy)).toEqual(config);
    expect(readFileSync(args, 'utf8')).toBe('-G\n--\nmac\n');
    expect(await ask(spy, { user: 'ana', port: 22 }, '/config')).toEqual(config);
    expect(readFileSync(args, 'utf8')).toBe('-G\n-F\n/config\n-l\nana\n-p\n22\n--\nmac\n');
    const seen = readFileSync(env, 'utf8')
      .split('\n')
      .filter((line) => !/^(?:PWD|OLDPWD|SHLVL|_|)(?:=|$)/u.test(line));
    const passed = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'SSH_AUTH_SOCK'].map((name) => `${name}=my ${name}`);
    expect(seen.sort()).toEqual(['LC_ALL=C', `PATH=${process.env['PATH']}`, ...passed].sort());
  });

  it('returns undefined if the ssh program does not exist', async () => {
    const gone = { command: at('gone'), variables: {} };
    expect(await askSsh({ label: 'studio-1', host: 'mac' }, gone)).toBeUndefined();
  });

  it.each([
    ['echo " no \tgood " >&2; exit 255', 'no \\x09good'],
    [`${answer}; exit 1`, `Command failed: ${at('ssh')} -G -- mac`],
    ['echo port 22; echo "but this" >&2', 'but this'],
    ['echo port 22', 'the output lacks host name, port or user'],
    [`head -c 262244 /dev/zero; ${answer}`, 'stdout maxBuffer length exceeded'],
  ])('reports why %s failed', async (script, reason) => {
    expect(await rejection(ask(script))).toMatchObject({
      code: 'ssh/config-unreadable',
      detail: `ssh -G -- mac: ${reason}`,
      subject: nodeSubject('studio-1'),
    });
  });
});
