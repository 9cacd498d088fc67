import { resolve as resolvePath } from 'node:path';
import type { SshCommand } from './ask-ssh.ts';
import type { SshConfig } from './ssh-config.ts';

/** The controller as far as reaching nodes depends on it. */
export interface ReachEnv extends SshCommand {
  readonly home: string;
  readonly userName: string;
}

/** Fills in `~`, `%` tokens and `${NAME}` of a path of ssh_config, and makes it absolute. @see ssh_config(5), TOKENS */
export function expandPath(path: string, config: SshConfig, env: ReachEnv): string {
  const tokens: Readonly<Record<string, string>> = {
    d: env.home,
    h: config.hostName,
    i: String(process.getuid?.() ?? ''),
    k: config.hostKeyAlias ?? config.hostName,
    p: String(config.port),
    r: config.user,
    u: env.userName,
    '%': '%',
  };
  const plain = path
    .replace(/%([dhikpru%])/gu, (_, token: string) => tokens[token] ?? '')
    .replace(/\$\{(\w+)\}/gu, (_, name: string) => env.variables[name] ?? '');
  return resolvePath(plain.replace(/^~(?=\/|$)/u, env.home));
}

/** The socket of the agent to ask; undefined when there is none, or none is wanted. */
export function agentSocketOf(config: SshConfig, env: ReachEnv): string | undefined {
  const wanted = config.identityAgent ?? 'SSH_AUTH_SOCK';
  if (wanted === 'none') return undefined;
  const variable = wanted === 'SSH_AUTH_SOCK' ? wanted : /^\$\{?(\w+)\}?$/u.exec(wanted)?.[1];
  const socket = variable === undefined ? expandPath(wanted, config, env) : env.variables[variable];
  return socket === '' ? undefined : socket;
}
