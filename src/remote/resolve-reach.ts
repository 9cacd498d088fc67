import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { failure, type GeneralCode } from '../diagnostics/diagnose.ts';
import type { HostKeyLock } from '../model/cluster-lock.ts';
import type { DesiredNode } from '../model/desired.ts';
import { given } from '../model/given.ts';
import { groupBy } from '../model/lists.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, type Prose, prose } from '../model/text/prose.ts';
import { quoteNodeText } from './connect-failure.ts';
import { type HostKeyTrust, matchesPattern, trustFor } from './keys/host-key-trust.ts';
import { limiter } from './limit-parallel.ts';
import { isHost, isTcpPort, isUser, type Target } from './remote.ts';
import { errorCodes } from './ssh2.ts';

/** Settings for reaching a node, from the cluster file or the command line. */
export interface ReachRequest extends Pick<DesiredNode, 'host' | 'user' | 'port' | 'identityFile'> {
  readonly label: string;
  /** See {@link Target} (default: empty). */
  readonly rootPrefix?: string;
}

/** The resolved target of a node, and the known_hosts files that apply to it. */
export interface Reach {
  readonly target: Target;
  readonly knownHostsFiles: readonly string[];
}

const parallelQuestions = 8;

/** The environment of the real controller. Home and user name come from the system, as in ssh. */
export function localReachEnv(): ReachEnv {
  const { homedir, username } = userInfo();
  return { home: homedir, userName: username, hostName: hostname(), command: 'ssh', variables: process.env };
}

const machineFile = (name: string): string => join(sep, 'etc', 'ssh', name);

function defaultConfig(request: ReachRequest, env: ReachEnv): SshConfig {
  return {
    hostName: request.host.toLowerCase(),
    port: request.port ?? 22,
    user: request.user ?? env.userName,
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

function identityFilesOf(request: ReachRequest, asked: HostConfig, env: ReachEnv): readonly string[] {
  const { config } = asked;
  const expand = (file: string): string => expandPath(file, asked, env);
  // In a path of the cluster file, only `~` is special.
  if (request.identityFile !== undefined) return [resolve(request.identityFile.replace(/^~(?=\/|$)/u, env.home))];
  const isDefault = config.identityFiles.length === 0 || isDefaultIdentityList(config.identityFiles);
  if (!isDefault) return config.identityFiles.map(expand);
  return defaultIdentityFiles.map(expand).filter((file) => existsSync(file));
}

function refuse(code: GeneralCode, { label }: ReachRequest, detail: Prose): never {
  throw failure(code, { detail, subject: nodeSubject(label) });
}

function checkRequest(request: ReachRequest): void {
  if (!isHost(request.host))
    refuse('ssh/bad-address', request, `${JSON.stringify(request.host)} is neither a host name nor an IP address.`);
  if (request.user !== undefined && !isUser(request.user)) {
    refuse('ssh/bad-address', request, `${JSON.stringify(request.user)} is not a valid user name.`);
  }
  if (request.port !== undefined && !isTcpPort(request.port))
    refuse('ssh/bad-address', request, `${request.port} is not a valid TCP port.`);
}

function checkConfig(request: ReachRequest, config: SshConfig): void {
  const [name, value] =
    config.proxyJump === undefined ? ['ProxyCommand', config.proxyCommand] : ['ProxyJump', config.proxyJump];
  if (value !== undefined) {
    const detail = prose`Your ssh_config has "${name} ${value}" for ${named(request.host)}; the built-in client supports only direct connections.`;
    refuse('ssh/proxyjump', request, detail);
  }
  if (config.revokedHostKeys !== undefined) {
    const detail = prose`Your ssh_config has "RevokedHostKeys ${config.revokedHostKeys}" for ${named(request.host)}.`;
    refuse('ssh/config-unsupported', request, detail);
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

/** Creates a resolver, which skips `ssh -G` if no ssh_config on this machine can change the result. */
export function createReachResolver(env: ReachEnv) {
  const limited = limiter(parallelQuestions);
  let silent: Promise<boolean> | undefined;
  const texts = new Map<string, Promise<string | undefined>>();
  const read = (file: string): Promise<string | undefined> => {
    // As in ssh, an unreadable known_hosts file counts as missing.
    const text = texts.get(file) ?? readIfThere(file).catch(() => undefined);
    texts.set(file, text);
    return text;
  };
  const ask = async (request: ReachRequest): Promise<SshConfig> => {
    silent ??= isSshSilent(env);
    if (await silent) return defaultConfig(request, env);
    const said = await limited(() => askSsh(request, env));
    if (said !== undefined) return said;
    // The configuration may set a jump host, a port or a key. A guess could reach a different node.
    const detail = `Your ssh_config may affect ${request.host}, but this computer has no ${env.command} to read it.`;
    const hint = 'Install the OpenSSH client, so that `ssh` is in the PATH.';
    throw failure('ssh/config-unreadable', { detail, subject: nodeSubject(request.label), hint });
  };
  return {
    /**
     * Resolves host, port, user, keys and agent: from the request, then from the user's ssh_config, then from ssh's
     * defaults.
     * @throws FleetError `ssh/bad-address`, `ssh/proxyjump`, `ssh/config-unsupported`, `ssh/config-unreadable`
     */
    resolve: async (request: ReachRequest): Promise<Reach> => {
      checkRequest(request);
      const config = await ask(request);
      checkConfig(request, config);
      const asked: HostConfig = { host: request.host, config };
      const agentSocket = agentSocketOf(asked, env);
      const target: Target = {
        label: request.label,
        host: config.hostName,
        port: config.port,
        user: config.user,
        rootPrefix: request.rootPrefix ?? '',
        identityFiles: identityFilesOf(request, asked, env),
        isIdentitiesOnly: config.isIdentitiesOnly || request.identityFile !== undefined,
        ...given({ agentSocket, hostKeyAlias: config.hostKeyAlias }),
      };
      return { target, knownHostsFiles: config.knownHostsFiles.map((file) => expandPath(file, asked, env)) };
    },
    /** Reads the known_hosts files for a node, each file once per run, and combines them with the lock. */
    trust: async (reach: Reach, lock?: HostKeyLock): Promise<HostKeyTrust> => {
      const files = await Promise.all(reach.knownHostsFiles.map(async (file) => ({ file, text: await read(file) })));
      const knownHosts = files.flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]));
      return trustFor(reach.target, { knownHosts, ...given({ lock }) });
    },
  };
}

/** The properties of the controller that affect how nodes are reached. */
export interface ReachEnv extends SshCommand {
  readonly home: string;
  readonly userName: string;
  /** This computer's name, as printed by `hostname`. */
  readonly hostName: string;
}

/** An address as passed to ssh, with its configuration. */
export interface HostConfig {
  /** The original host name: `%n`. */
  readonly host: string;
  readonly config: SshConfig;
}

function tokensOf({ host, config }: HostConfig, env: ReachEnv): Readonly<Record<string, string>> {
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
 * Expands `~`, `%` tokens and `${NAME}` in a path of ssh_config, and makes it absolute.
 * @throws FleetError `ssh/config-unsupported` for a token that is unknown to ssh too
 * @see ssh_config(5), TOKENS
 */
export function expandPath(path: string, asked: HostConfig, env: ReachEnv): string {
  const tokens = tokensOf(asked, env);
  const plain = path
    .replace(/%(.?)/gu, (whole, token: string) => {
      const value = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
      if (value !== undefined) return value;
      const detail = `Your ssh_config has the path "${path}" for ${asked.host}, but ${whole} is not a valid token there.`;
      throw failure('ssh/config-unsupported', { detail, hint: 'Remove the token from the path.' });
    })
    .replace(/\$\{(\w+)\}/gu, (_, name: string) => env.variables[name] ?? '');
  return resolve(plain.replace(/^~(?=\/|$)/u, env.home));
}

/** The socket of the agent to use; undefined if there is no agent or the configuration disables it. */
export function agentSocketOf(asked: HostConfig, env: ReachEnv): string | undefined {
  const wanted = asked.config.identityAgent ?? 'SSH_AUTH_SOCK';
  if (wanted === 'none') return undefined;
  const variable = wanted === 'SSH_AUTH_SOCK' ? wanted : /^\$\{?(\w+)\}?$/u.exec(wanted)?.[1];
  const socket = variable === undefined ? expandPath(wanted, asked, env) : env.variables[variable];
  return socket === '' ? undefined : socket;
}

const maxDepth = 8;

/** A file's text; undefined if the file is missing. Throws all other errors. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    // A normal open of a pipe would wait forever for a writer.
    return await readFile(file, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NONBLOCK });
  } catch (error) {
    if (errorCodes(error).some((code) => code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw error;
  }
}

async function included(pattern: string, folder: string): Promise<readonly string[] | undefined> {
  const path = resolve(folder, pattern);
  if (/[*?[\]]/u.test(dirname(path)) || /[[\]]/u.test(basename(path))) return undefined;
  if (!/[*?]/u.test(basename(path))) return [path];
  const names = await readdir(dirname(path)).catch(() => []);
  return names.filter((name) => matchesPattern(name, basename(path))).map((name) => join(dirname(path), name));
}

/** An ssh_config, and the folder for all relative Includes in it, at any depth. */
interface ConfigFile {
  readonly file: string;
  /** `~/.ssh` for the user's own file and for `-F`, `/etc/ssh` for the machine-wide file. @see ssh_config(5) */
  readonly includeFolder: string;
}

/** Whether an ssh_config with its includes changes no relevant setting, so that `ssh -G` is not needed. */
export async function isPlainConfig({ file, includeFolder }: ConfigFile, depth = 0): Promise<boolean> {
  const text = await readIfThere(file).catch(() => 'unreadable');
  if (text === undefined) return true;
  if (depth > maxDepth) return false;
  const lines = text.split('\n').map(judgeConfigLine);
  if (lines.some((line) => line.kind === 'relevant')) return false;
  const patterns = lines.flatMap((line) => (line.kind === 'include' ? line.patterns : []));
  for (const pattern of patterns) {
    const files = await included(pattern, includeFolder);
    if (files === undefined) return false;
    for (const one of files) if (!(await isPlainConfig({ file: one, includeFolder }, depth + 1))) return false;
  }
  return true;
}

/** The input of `ssh -G`. The host was validated by `isHost`. Missing values come from the user's ssh_config. */
export type SshQuestion = Pick<ReachRequest, 'label' | 'host' | 'user' | 'port'>;

/** The settings to run the system's ssh. */
interface SshCommand {
  /** A path, or a name in PATH. */
  readonly command: string;
  /** File that replaces the user's and the machine-wide ssh_config (`-F`). */
  readonly configFile?: string;
  /** meshwright's environment; only the few variables that ssh needs are passed on. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

const deadlineMs = 10_000;
const maxBytes = 256 * 1024;
const passedOn = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'SSH_AUTH_SOCK'];

/**
 * Queries how the system's ssh would reach an address, so that `Host` and `Match` blocks work as usual; undefined if
 * this machine has no ssh.
 * @throws FleetError `ssh/config-unreadable`
 */
export async function askSsh(question: SshQuestion, ssh: SshCommand): Promise<SshConfig | undefined> {
  const { host, user, port } = question;
  const args = [
    '-G',
    ...(ssh.configFile === undefined ? [] : ['-F', ssh.configFile]),
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    '--',
    host,
  ];
  const variables = Object.fromEntries(passedOn.map((name) => [name, ssh.variables[name]]));
  const options = {
    env: { LC_ALL: 'C', ...given(variables) },
    timeout: deadlineMs,
    maxBuffer: maxBytes,
    killSignal: 'SIGKILL',
  } as const;
  const answer = await new Promise<{ error: Error | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(ssh.command, args, options, (error, stdout, stderr) => resolve({ error, stdout, stderr }));
    child.stdin?.end();
  });
  if (errorCodes(answer.error).includes('ENOENT')) return undefined;
  const config = answer.error === null ? parseSshConfig(answer.stdout) : undefined;
  if (config !== undefined) return config;
  const said =
    quoteNodeText(answer.stderr.trim()) || answer.error?.message.trim() || 'the output lacks host name, port or user';
  const detail = `ssh ${args.join(' ')}: ${said}`;
  throw failure('ssh/config-unreadable', { detail, subject: nodeSubject(question.label) });
}
/** The output of `ssh -G` for one address, as far as the built-in client needs it. Paths may start with `~`. */
export interface SshConfig extends Pick<Target, 'port' | 'user' | 'identityFiles' | 'hostKeyAlias'> {
  readonly hostName: string;
  /** As printed: a path, `none`, `SSH_AUTH_SOCK` or `$NAME`; absent if not configured. */
  readonly identityAgent?: string;
  readonly isIdentitiesOnly: boolean;
  readonly knownHostsFiles: readonly string[];
  readonly proxyJump?: string;
  readonly proxyCommand?: string;
  readonly revokedHostKeys?: string;
}

/** Splits the paths of `ssh -G`, which have no quotes: a space separates two of them only before `/` or `~`. */
const splitPaths = (value: string): readonly string[] =>
  value === 'none' ? [] : value.split(/ (?=[/~])/u).filter((path) => path !== '');

/**
 * Parses the output of `ssh -G`; undefined if host name, port or user is missing.
 * ```
 * user mesh
 * hostname studio-1.lan
 * ```
 */
export function parseSshConfig(text: string): SshConfig | undefined {
  const lines = text.split('\n').map((line) => /^(?<key>\S+) (?<value>.*)$/u.exec(line.trimEnd())?.groups);
  const values = groupBy(lines, (line) => line?.['key']?.toLowerCase());
  const all = (key: string): readonly string[] => (values.get(key) ?? []).map((line) => line?.['value'] ?? '');
  const one = (key: string): string | undefined => all(key)[0];
  const set = (key: string): string | undefined => (one(key) === 'none' ? undefined : one(key));
  const [hostName, user, port] = [one('hostname'), one('user'), Number(one('port'))];
  if (hostName === undefined || user === undefined || !Number.isInteger(port)) return undefined;
  const optional = {
    identityAgent: one('identityagent'),
    hostKeyAlias: set('hostkeyalias'),
    proxyJump: set('proxyjump'),
    proxyCommand: set('proxycommand'),
    revokedHostKeys: set('revokedhostkeys'),
  };
  return {
    hostName,
    port,
    user,
    identityFiles: all('identityfile').filter((path) => path !== 'none'),
    isIdentitiesOnly: one('identitiesonly') === 'yes',
    knownHostsFiles: [
      ...splitPaths(one('userknownhostsfile') ?? 'none'),
      ...splitPaths(one('globalknownhostsfile') ?? 'none'),
    ],
    ...given(optional),
  };
}

/** ssh's default key files, except those that the built-in client cannot use. */
const defaultIdentityFiles: readonly string[] = ['~/.ssh/id_ed25519', '~/.ssh/id_ecdsa', '~/.ssh/id_rsa'];

/** Whether a list of key files is ssh's default list. */
export const isDefaultIdentityList = (files: readonly string[]): boolean =>
  files.length >= 4 &&
  files.every((file) => /^~\/\.ssh\/id_(?:rsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk|xmss|dsa)$/u.test(file));

/** Keywords that do not affect {@link SshConfig}. */
const irrelevantKeywords = new Set(
  `addkeystoagent batchmode casignaturealgorithms checkhostip ciphers compression connecttimeout controlmaster
  controlpath controlpersist forwardagent forwardx11 forwardx11timeout forwardx11trusted gssapiauthentication
  gssapidelegatecredentials hashknownhosts hostkeyalgorithms ipqos kexalgorithms loglevel macs
  nohostauthenticationforlocalhost passwordauthentication pubkeyacceptedalgorithms rekeylimit requesttty sendenv
  serveralivecountmax serveraliveinterval setenv stricthostkeychecking tcpkeepalive updatehostkeys usekeychain
  visualhostkey warnweakcrypto xauthlocation`.split(/\s+/u),
);

/** Whether a line in an ssh_config can make the output of `ssh -G` differ from the defaults. */
type ConfigLine =
  | { readonly kind: 'irrelevant' }
  | { readonly kind: 'include'; readonly patterns: readonly string[] }
  | { readonly kind: 'relevant' };

/**
 * Classifies a line in an ssh_config. Empty lines, comments, `Host *` and known harmless keywords are irrelevant,
 * `Include` is followed, and all other lines count as relevant.
 */
export function judgeConfigLine(line: string): ConfigLine {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return { kind: 'irrelevant' };
  const [, keyword = '', rest = ''] = /^([A-Za-z0-9]+)(?=[\s=])\s*(?:=\s*)?(|[^\s].*)$/u.exec(text) ?? [];
  const key = keyword.toLowerCase();
  if (key === 'include' && !/["'~$%\\#]/u.test(rest)) return { kind: 'include', patterns: rest.split(/\s+/u) };
  const isEverywhere = key === 'host' && rest.trim() === '*';
  return isEverywhere || irrelevantKeywords.has(key) ? { kind: 'irrelevant' } : { kind: 'relevant' };
}
