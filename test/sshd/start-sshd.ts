import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { createPortClaims } from '../../src/sim/hosts/link-table.ts';
import { eventually } from '../until.ts';

/** Folders of OpenSSH's server that are often missing in PATH. */
const sshdFolders = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec'] as const;

/** The absolute path of OpenSSH's server, which it needs to run itself again; undefined if there is none. */
export const findSshd = (searched = process.env['PATH'] ?? ''): string | undefined =>
  [...searched.split(delimiter), ...sshdFolders]
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, 'sshd'))
    .find((path) => existsSync(path));

/** The path that the tests start; only the name if there is no sshd, so that a start fails. */
export const sshdPath = findSshd() ?? 'sshd';

/**
 * True if tests against OpenSSH can run here. With `MESHWRIGHT_SSHD=required`, a missing sshd is an error; without the
 * variable, vitest skips these tests and reports them as skipped.
 */
export function hasSshd(): boolean {
  if (findSshd() !== undefined) return true;
  if (process.env['MESHWRIGHT_SSHD'] === 'required')
    throw new Error(`MESHWRIGHT_SSHD=required, but PATH and ${sshdFolders.join(', ')} contain no sshd`);
  return false;
}

/** A key pair made by ssh-keygen. `publicLine` is `type base64 comment`. */
export interface KeyPair {
  readonly file: string;
  readonly publicLine: string;
  readonly type: string;
  readonly base64: string;
}

/** The options of a private sshd. */
export interface SshdOptions {
  /** Lines of authorized_keys. */
  readonly userKeys: readonly string[];
  /** Files of host keys; without this option, one Ed25519 key is created. */
  readonly hostKeys?: readonly KeyPair[];
  /** Further lines of sshd_config. */
  readonly config?: readonly string[];
  /** Environment of the server, inherited by its commands only through `SetEnv` lines. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A running private sshd on 127.0.0.1, for the current user. */
export interface Sshd {
  readonly port: number;
  readonly user: string;
  readonly hostKeys: readonly KeyPair[];
  /** The first host key, which is the only one unless the options list several. */
  readonly hostKey: KeyPair;
  /** The server's log so far (LogLevel DEBUG1 unless the configuration sets a different level). */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

/**
 * Creates a key pair with ssh-keygen in a folder. `kind` is the value for `-t`; `extra` are further options, such as
 * the bits.
 */
export function makeKey(folder: string, name: string, kind = 'ed25519', extra: readonly string[] = []): KeyPair {
  const file = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', kind, '-N', '', '-C', name, '-f', file, ...extra], { stdio: 'pipe' });
  const publicLine = readFileSync(`${file}.pub`, 'utf8').trim();
  const [type = '', base64 = ''] = publicLine.split(' ');
  return { file, publicLine, type, base64 };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const done = (isUp: boolean) => (): void => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once('data', done(true)).once('error', done(false)).once('close', done(false));
  });
}

async function waitUntilUp(port: number, child: ChildProcess, log: () => string): Promise<void> {
  const isOver = await eventually(async () => child.exitCode !== null || (await answers(port)));
  if (child.exitCode !== null) throw new Error(`sshd exited immediately:\n${log()}`);
  if (!isOver) throw new Error(`sshd did not answer on port ${port}:\n${log()}`);
}

function stopChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

/**
 * As root, sshd needs its privilege separation folder. Installing the package creates this folder; a reboot removes it.
 */
export function ensurePrivsepFolder(): void {
  if (process.getuid?.() === 0 && existsSync('/run') && !existsSync('/run/sshd')) {
    execFileSync('mkdir', ['-p', '-m', '0755', '/run/sshd']);
  }
}

/**
 * Since 9.8, sshd locks out an address after failed logins, which tests cause on purpose. Older versions reject the
 * unknown keyword.
 */
function penaltiesOff(): readonly string[] {
  const answer = spawnSync(sshdPath, ['-T', '-f', '/dev/null', '-o', 'PerSourcePenalties=no'], { encoding: 'utf8' });
  return answer.stderr.includes('Bad configuration option') ? [] : ['PerSourcePenalties no'];
}

/**
 * Sets a HOME without rc files, so that sshd's commands do not read the user's own: after a session was cut off, `pyenv
 * init` in a .bashrc waits a minute for the lock that the session left. sshd uses only the first SetEnv line.
 */
function withOwnHome(folder: string, extra: readonly string[]): readonly string[] {
  const home = `HOME=${folder}`;
  if (!extra.some((line) => line.startsWith('SetEnv '))) return [...extra, `SetEnv ${home}`];
  return extra.map((line) => (line.startsWith('SetEnv ') ? `${line} ${home}` : line));
}

/** The configuration of an sshd whose files are in a folder, with files of host keys and further lines. */
export function sshdConfig(
  folder: string,
  port: number,
  hostKeys: readonly string[],
  config: readonly string[],
): string {
  const extra = withOwnHome(folder, config);
  const keyword = (line: string): string => line.split(/\s/u)[0]?.toLowerCase() ?? '';
  const given = new Set(extra.map(keyword));
  const defaults = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...hostKeys.map((key) => `HostKey ${key}`),
    `PidFile ${join(folder, 'pid')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PrintMotd no',
    'MaxStartups 1000',
    'LogLevel DEBUG1',
    ...penaltiesOff(),
  ];
  // For most keywords the first value counts, for some (MaxStartups) the last. So the file contains each keyword only
  // once.
  return [...defaults.filter((line) => !given.has(keyword(line))), ...extra, ''].join('\n');
}

/** Starts a private OpenSSH server on a free loopback port and waits until it answers. */
export async function startSshd(options: SshdOptions): Promise<Sshd> {
  ensurePrivsepFolder();
  const claims = createPortClaims();
  const port = await claims.take();
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-sshd-'));
  const given = options.hostKeys ?? [];
  const hostKey = given[0] ?? makeKey(folder, 'host');
  const hostKeys = given.length > 0 ? given : [hostKey];
  const config = join(folder, 'sshd_config');
  writeFileSync(join(folder, 'authorized_keys'), `${options.userKeys.join('\n')}\n`, { mode: 0o600 });
  const hostKeyFiles = hostKeys.map(({ file }) => file);
  writeFileSync(config, sshdConfig(folder, port, hostKeyFiles, options.config ?? []));
  const logFile = join(folder, 'log');
  const log = (): string => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');
  const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', ...options.env };
  // sshd runs itself again for each connection, so both its own path and that of its configuration must be absolute.
  const child = spawn(sshdPath, ['-D', '-E', logFile, '-f', config], { stdio: 'ignore', env });
  const stop = async (): Promise<void> => {
    await stopChild(child);
    await claims.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilUp(port, child, log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, user: userInfo().username, hostKeys, hostKey, log, stop };
}
