import { createHash } from 'node:crypto';
import { resolve as resolvePath } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { SshCommand } from '../ask-ssh.ts';
import type { SshConfig } from './ssh-config.ts';

/** The controller as far as reaching nodes depends on it. */
export interface ReachEnv extends SshCommand {
  readonly home: string;
  readonly userName: string;
  /** Name of this computer, as `hostname` prints it. */
  readonly hostName: string;
}

/** An address as ssh was asked about it, and what its configuration says. */
export interface Asked {
  /** As it was written: `%n`. */
  readonly host: string;
  readonly config: SshConfig;
}

function tokensOf({ host, config }: Asked, env: ReachEnv): Readonly<Record<string, string>> {
  const [port, jump] = [String(config.port), config.proxyJump ?? ''];
  const connection = `${env.hostName}${config.hostName}${port}${config.user}${jump}`;
  return {
    C: createHash('sha1').update(connection).digest('hex'),
    d: env.home,
    h: config.hostName,
    i: String(process.getuid?.() ?? ''),
    j: jump,
    k: config.hostKeyAlias ?? config.hostName,
    L: env.hostName.split('.')[0] ?? '',
    l: env.hostName,
    n: host,
    p: port,
    r: config.user,
    u: env.userName,
    '%': '%',
  };
}

/**
 * Fills in `~`, `%` tokens and `${NAME}` of a path of ssh_config, and makes it absolute.
 * @throws FleetError `ssh/config-unsupported` for a token that ssh does not know there either
 * @see ssh_config(5), TOKENS
 */
export function expandPath(path: string, asked: Asked, env: ReachEnv): string {
  const tokens = tokensOf(asked, env);
  const plain = path
    .replace(/%(.?)/gu, (whole, token: string) => {
      const value = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
      if (value !== undefined) return value;
      const detail = `Your ssh_config has the path "${path}" for ${asked.host}, and ${whole} means nothing there.`;
      throw new FleetError([diagnose('ssh/config-unsupported', { detail, hint: 'Write the path without it.' })]);
    })
    .replace(/\$\{(\w+)\}/gu, (_, name: string) => env.variables[name] ?? '');
  return resolvePath(plain.replace(/^~(?=\/|$)/u, env.home));
}

/** The socket of the agent to ask; undefined when there is none, or none is wanted. */
export function agentSocketOf(asked: Asked, env: ReachEnv): string | undefined {
  const wanted = asked.config.identityAgent ?? 'SSH_AUTH_SOCK';
  if (wanted === 'none') return undefined;
  const variable = wanted === 'SSH_AUTH_SOCK' ? wanted : /^\$\{?(\w+)\}?$/u.exec(wanted)?.[1];
  const socket = variable === undefined ? expandPath(wanted, asked, env) : env.variables[variable];
  return socket === '' ? undefined : socket;
}
