import { access } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join, resolve as resolvePath, sep } from 'node:path';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/diagnostic.ts';
import type { HostKeyLock } from '../model/cluster-lock.ts';
import { given } from '../model/given.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, type Prose, prose } from '../model/text/prose.ts';
import { type HostKeyTrust, trustFor } from './keys/host-key-trust.ts';
import { limiter } from './limit-parallel.ts';
import { isHost, isTcpPort, isUser, type Target } from './remote.ts';
import {
  type Asked,
  agentSocketOf,
  askSsh,
  type ConfigFile,
  defaultIdentityFiles,
  expandPath,
  isDefaultIdentityList,
  isPlainConfig,
  type ReachEnv,
  readIfThere,
  type SshConfig,
} from './ssh-config.ts';

/** What the cluster file, or the command line before there is one, says about reaching a node. */
export interface ReachWish {
  readonly label: string;
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  /** Absolute, or beginning with `~/`. Then the agent may sign for this key only. */
  readonly identityFile?: string;
  /** See {@link Target}; empty unless given. */
  readonly rootPrefix?: string;
}

/** How a node is reached, and which known_hosts files speak about it. */
export interface Reach {
  readonly target: Target;
  readonly knownHostsFiles: readonly string[];
}

/** Answers how nodes are reached; made once per run, since it remembers what it has read. */
export interface ReachResolver {
  /**
   * Settles host, port, user, keys and agent: the wish first, then the user's ssh_config, then ssh's defaults.
   * @throws FleetError `ssh/bad-address`, `ssh/proxyjump`, `ssh/config-unsupported`, `ssh/config-unreadable`
   */
  readonly resolve: (wish: ReachWish) => Promise<Reach>;
  /** Reads the known_hosts files of a reach (each file once per run) and judges keys with them and the lock. */
  readonly trust: (reach: Reach, lock?: HostKeyLock) => Promise<HostKeyTrust>;
}

const parallelQuestions = 8;

/** The controller as it is: the user's home and name as the system knows them, which is what ssh goes by too. */
export function localReachEnv(): ReachEnv {
  const { homedir, username } = userInfo();
  return { home: homedir, userName: username, hostName: hostname(), command: 'ssh', variables: process.env };
}

const machineFile = (name: string): string => join(sep, 'etc', 'ssh', name);

function defaultConfig(wish: ReachWish, env: ReachEnv): SshConfig {
  return {
    hostName: wish.host.toLowerCase(),
    port: wish.port ?? 22,
    user: wish.user ?? env.userName,
    identityFiles: [],
    isIdentitiesOnly: false,
    knownHostsFiles: [
      join(env.home, '.ssh', 'known_hosts'),
      join(env.home, '.ssh', 'known_hosts2'),
      machineFile('ssh_known_hosts'),
      machineFile('ssh_known_hosts2'),
    ],
  };
}

async function existing(files: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    files.map((file) =>
      access(file).then(
        () => [file],
        () => [],
      ),
    ),
  );
  return found.flat();
}

async function identityFilesOf(wish: ReachWish, asked: Asked, env: ReachEnv): Promise<readonly string[]> {
  const { config } = asked;
  const expand = (file: string): string => expandPath(file, asked, env);
  // A path of the cluster file means itself: only ~ is special there.
  if (wish.identityFile !== undefined) return [resolvePath(wish.identityFile.replace(/^~(?=\/|$)/u, env.home))];
  const isDefault = config.identityFiles.length === 0 || isDefaultIdentityList(config.identityFiles);
  return isDefault ? existing(defaultIdentityFiles.map(expand)) : config.identityFiles.map(expand);
}

function refuse(
  code: 'ssh/bad-address' | 'ssh/proxyjump' | 'ssh/config-unsupported' | 'ssh/config-unreadable',
  wish: ReachWish,
  detail: Prose,
  hint?: Prose,
): never {
  const subject = nodeSubject(wish.label);
  throw new FleetError([diagnose(code, { detail, subject, ...given({ hint }) })]);
}

function checkWish(wish: ReachWish): void {
  if (!isHost(wish.host))
    refuse('ssh/bad-address', wish, `${JSON.stringify(wish.host)} is no host name and no IP address.`);
  if (wish.user !== undefined && !isUser(wish.user)) {
    refuse('ssh/bad-address', wish, `${JSON.stringify(wish.user)} is no user name.`);
  }
  if (wish.port !== undefined && !isTcpPort(wish.port)) refuse('ssh/bad-address', wish, `${wish.port} is no TCP port.`);
}

function checkConfig(wish: ReachWish, config: SshConfig): void {
  const [name, value] =
    config.proxyJump === undefined ? ['ProxyCommand', config.proxyCommand] : ['ProxyJump', config.proxyJump];
  if (value !== undefined) {
    refuse(
      'ssh/proxyjump',
      wish,
      prose`Your ssh_config has "${name} ${value ?? ''}" for ${named(wish.host)}; the built-in client connects directly only.`,
    );
  }
  if (config.revokedHostKeys !== undefined) {
    refuse(
      'ssh/config-unsupported',
      wish,
      prose`Your ssh_config has "RevokedHostKeys ${config.revokedHostKeys}" for ${named(wish.host)}.`,
    );
  }
}

async function isSshSilent(env: ReachEnv): Promise<boolean> {
  const own = join(env.home, '.ssh');
  const files: readonly ConfigFile[] =
    env.configFile === undefined
      ? [
          { file: join(own, 'config'), includeFolder: own },
          { file: machineFile('ssh_config'), includeFolder: machineFile('') },
        ]
      : [{ file: env.configFile, includeFolder: own }];
  const plain = await Promise.all(files.map((file) => isPlainConfig(file)));
  return plain.every(Boolean);
}

/** Makes a resolver. `ssh -G` is left out when no ssh_config of this machine can change its answer. */
export function createReachResolver(env: ReachEnv): ReachResolver {
  const limited = limiter(parallelQuestions);
  let silent: Promise<boolean> | undefined;
  const texts = new Map<string, Promise<string | undefined>>();
  const read = (file: string): Promise<string | undefined> => {
    // A known_hosts file that cannot be read counts as absent, as it does for ssh.
    const text = texts.get(file) ?? readIfThere(file).catch(() => undefined);
    texts.set(file, text);
    return text;
  };
  const ask = async (wish: ReachWish): Promise<SshConfig> => {
    silent ??= isSshSilent(env);
    if (await silent) return defaultConfig(wish, env);
    const said = await limited(() => askSsh(wish, env));
    if (said !== undefined) return said;
    // Whatever the configuration says (a jump, another port, a key): guessing past it could reach another node.
    const detail = `Your ssh_config may concern ${wish.host}, and there is no ${env.command} on this computer to ask.`;
    return refuse('ssh/config-unreadable', wish, detail, 'Install the OpenSSH client, so that ssh is in the PATH.');
  };
  return {
    resolve: async (wish) => {
      checkWish(wish);
      const config = await ask(wish);
      checkConfig(wish, config);
      const asked: Asked = { host: wish.host, config };
      const agentSocket = agentSocketOf(asked, env);
      const target: Target = {
        label: wish.label,
        host: config.hostName,
        port: config.port,
        user: config.user,
        rootPrefix: wish.rootPrefix ?? '',
        identityFiles: await identityFilesOf(wish, asked, env),
        isIdentitiesOnly: config.isIdentitiesOnly || wish.identityFile !== undefined,
        ...given({ agentSocket, hostKeyAlias: config.hostKeyAlias }),
      };
      return { target, knownHostsFiles: config.knownHostsFiles.map((file) => expandPath(file, asked, env)) };
    },
    trust: async (reach, lock) => {
      const files = await Promise.all(reach.knownHostsFiles.map(async (file) => ({ file, text: await read(file) })));
      const knownHosts = files.flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]));
      return trustFor(reach.target, { knownHosts, ...given({ lock }) });
    },
  };
}
