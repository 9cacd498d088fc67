/** What `ssh -G` says about one address, as far as the built-in client needs it. Paths may begin with `~`. */
export interface SshConfig {
  readonly hostName: string;
  readonly port: number;
  readonly user: string;
  readonly identityFiles: readonly string[];
  /** As printed: a path, `none`, `SSH_AUTH_SOCK` or `$NAME`; absent when not configured. */
  readonly identityAgent?: string;
  readonly isIdentitiesOnly: boolean;
  readonly knownHostsFiles: readonly string[];
  readonly hostKeyAlias?: string;
  readonly proxyJump?: string;
  readonly proxyCommand?: string;
  readonly revokedHostKeys?: string;
}

function readLines(text: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, key, value] = /^(\S+) (.*)$/u.exec(line.trimEnd()) ?? [];
    if (key === undefined || value === undefined) continue;
    values.set(key.toLowerCase(), [...(values.get(key.toLowerCase()) ?? []), value]);
  }
  return values;
}

/** Paths stand side by side without quotes, so a blank separates two only before `/` or `~`. */
const splitPaths = (value: string): readonly string[] =>
  value === 'none' ? [] : value.split(/ (?=[/~])/u).filter((path) => path !== '');

/**
 * Reads the output of `ssh -G`; undefined when it lacks host name, port or user.
 * ```
 * user mesh
 * hostname studio-1.lan
 * ```
 */
export function parseSshConfig(text: string): SshConfig | undefined {
  const values = readLines(text);
  const one = (key: string): string | undefined => values.get(key)?.[0];
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
    identityFiles: (values.get('identityfile') ?? []).filter((path) => path !== 'none'),
    isIdentitiesOnly: one('identitiesonly') === 'yes',
    knownHostsFiles: [
      ...splitPaths(one('userknownhostsfile') ?? 'none'),
      ...splitPaths(one('globalknownhostsfile') ?? 'none'),
    ],
    ...definedOnly(optional),
  };
}

function definedOnly<T extends Readonly<Record<string, string | undefined>>>(values: T): { [K in keyof T]?: string } {
  const copy: { [K in keyof T]?: string } = {};
  for (const key in values) if (values[key] !== undefined) copy[key] = values[key];
  return copy;
}

/** The key files that ssh tries when none is configured, without those that the built-in client cannot use. */
export const defaultIdentityFiles: readonly string[] = ['~/.ssh/id_ed25519', '~/.ssh/id_ecdsa', '~/.ssh/id_rsa'];

/** Whether a list of key files is the one that ssh uses when none is configured. */
export const isDefaultIdentityList = (files: readonly string[]): boolean =>
  files.length >= 4 &&
  files.every((file) => /^~\/\.ssh\/id_(?:rsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk|xmss|dsa)$/u.test(file));

/** Keywords that change nothing of what {@link SshConfig} holds. */
const irrelevantKeywords = new Set(
  `addkeystoagent batchmode casignaturealgorithms checkhostip ciphers compression connecttimeout controlmaster
  controlpath controlpersist forwardagent forwardx11 forwardx11timeout forwardx11trusted gssapiauthentication
  gssapidelegatecredentials hashknownhosts hostkeyalgorithms ipqos kexalgorithms loglevel macs
  nohostauthenticationforlocalhost passwordauthentication pubkeyacceptedalgorithms rekeylimit requesttty sendenv
  serveralivecountmax serveraliveinterval setenv stricthostkeychecking tcpkeepalive updatehostkeys usekeychain
  visualhostkey warnweakcrypto xauthlocation`.split(/\s+/u),
);

/** What one line of an ssh_config means to the question whether `ssh -G` could say anything but the defaults. */
export type ConfigLine =
  | { readonly kind: 'irrelevant' }
  | { readonly kind: 'include'; readonly patterns: readonly string[] }
  | { readonly kind: 'relevant' };

/**
 * Judges the lines of an ssh_config. Only blank lines, comments, `Host *`, `Include` and keywords that are known to
 * change nothing are let through; everything else, also what nobody knows, is relevant.
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
