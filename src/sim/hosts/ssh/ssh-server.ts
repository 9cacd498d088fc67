import { readFile, stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import ssh2, {
  type AuthContext,
  type AuthenticationType,
  type Connection,
  type KeyboardAuthContext,
  type PublicKeyAuthContext,
  type ServerChannel,
} from 'ssh2';
import { shownKey } from './host-keys.ts';
import { type ServedMac, type SessionClient, serveSessions } from './sessions.ts';
import { homeOf } from './ssh-user.ts';

/** sshd's LoginGraceTime. */
const loginGraceMs = 120_000;

/** The algorithms of a current macOS sshd that ssh2 supports. */
const algorithms = {
  kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256', 'diffie-hellman-group14-sha256'],
  serverHostKey: ['ssh-ed25519'],
  cipher: ['chacha20-poly1305@openssh.com', 'aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256'],
} satisfies ssh2.ServerConfig['algorithms'];

/**
 * The ssh server of a simulated node, for one client. It uses the real SSH protocol on a given socket. Each connection
 * has its own server object, because ssh2 sets host key and banner per server.
 */
export function serveSsh(node: ServedMac, socket: Socket, connection: number): void {
  const state = node.view().connection;
  const isLocked = state.filevault === 'preboot';
  const grace = setTimeout(() => socket.destroy(), loginGraceMs).unref();
  socket.once('close', () => clearTimeout(grace));
  const from = `${socket.remoteAddress} ${socket.remotePort}`;
  const to = `${socket.localAddress} ${socket.localPort}`;

  const server = new ssh2.Server({
    hostKeys: [node.keys[shownKey(state)].privateText],
    ident: 'Simulated_Mac',
    algorithms,
    ...(isLocked && { banner: prebootBanner }),
  });
  server.on('connection', (client, { header }) => {
    client.on('error', () => undefined);
    client.once('ready', () => clearTimeout(grace));
    const login = authenticate(client, node, isLocked);
    if (isLocked) client.once('ready', () => servePreboot(client, node.unlock));
    else serveSessions(client, node, { software: header.versions.software, connection, from, to, login });
  });
  server.injectSocket(socket);
}

/** Permission bits for writing by the group or by all users. */
const othersMayWrite = 0o022;

/** A key that may log in (`ssh-ed25519 AAAA…`), and the only command that it may run. */
interface AuthorizedKey {
  readonly key: string;
  readonly command?: string;
}

/**
 * Reads a line without options, or with those for one command. Any other options are not simulated, so the line counts
 * as invalid.
 *
 * @see sshd(8): expiry-time has the form YYYYMMDDHHMM in the system's time zone
 */
function authorizedKey(line: string): readonly AuthorizedKey[] {
  const plain = /^(?:ssh|ecdsa)-\S+ \S+/u.exec(line)?.[0];
  if (plain !== undefined) return [{ key: plain }];
  const [, command, expiry = '', key] =
    /^restrict,command="([^"\\]+)",expiry-time="(\d{12})" ((?:ssh|ecdsa)-\S+ \S+)/u.exec(line) ?? [];
  if (command === undefined || key === undefined) return [];
  const [, ...numbers] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/u.exec(expiry) ?? [];
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = numbers.map(Number);
  return new Date(year, month - 1, day, hour, minute).getTime() > Date.now() ? [{ key, command }] : [];
}

/**
 * The keys that may log in, read at each login like sshd. Empty if other users can write the file or a folder in its
 * path (`StrictModes`, the default in macOS's sshd_config).
 *
 * @see sshd(8) of macOS, AUTHORIZED_KEYS FILE FORMAT
 */
async function authorizedKeys(root: string, user: string): Promise<readonly AuthorizedKey[]> {
  const file = join(homeOf(root, user), '.ssh/authorized_keys');
  try {
    const modes = await Promise.all(
      [file, dirname(file), dirname(dirname(file))].map(async (path) => (await stat(path)).mode),
    );
    if (modes.some((mode) => (mode & othersMayWrite) !== 0)) return [];
    return (await readFile(file, 'utf8')).split('\n').flatMap(authorizedKey);
  } catch {
    return [];
  }
}

/** sshd's MaxAuthTries. */
const maxTries = 6;

function isAccepted(context: PublicKeyAuthContext, acceptedKey: string): boolean {
  const key = ssh2.utils.parseKey(acceptedKey);
  if (key instanceof Error || context.key.algo !== key.type) return false;
  if (!key.getPublicSSH().equals(context.key.data)) return false;
  if (context.signature === undefined || context.blob === undefined) return true; // The client only asks whether the key would be accepted.
  return key.verify(context.blob, context.signature, context.hashAlgo) === true;
}

/** Shows a Mac's keyboard-interactive prompt with one hidden answer. */
const askPassword = (context: KeyboardAuthContext): Promise<string | undefined> =>
  new Promise((resolve) => {
    context.prompt([{ prompt: 'Password:', echo: false }], ([answer]) => resolve(answer));
  });

/** Before FileVault is unlocked, sshd accepts no keys and only prompts for the password. */
async function mayLogIn(
  context: AuthContext,
  { root, user, view, onPrebootPassword }: ServedMac,
  isLocked: boolean,
): Promise<{ readonly command?: string } | undefined> {
  const isUser = context.username === user;
  const { password } = view();
  const whole = (isIn: boolean) => (isIn ? {} : undefined);
  switch (context.method) {
    case 'publickey':
      if (isLocked || !isUser) return undefined;
      return (await authorizedKeys(root, user)).find(({ key }) => isAccepted(context, key));
    case 'password':
      if (isLocked) onPrebootPassword();
      return whole(isUser && context.password === password);
    case 'keyboard-interactive':
      return whole(!isLocked && (await askPassword(context)) === password && isUser);
    default:
      return undefined;
  }
}

/** Accepts the only user, by a key or by either password method. Closes after six refusals; records no passwords. */
function authenticate(client: Connection, node: ServedMac, isLocked: boolean): SessionClient['login'] {
  const login: { command?: string | undefined } = {};
  const methods: AuthenticationType[] = isLocked ? ['password'] : ['publickey', 'password', 'keyboard-interactive'];
  let refused = 0;
  const refuse = (context: AuthContext): void => {
    if (context.method !== 'none') refused += 1;
    context.reject(methods);
    if (refused >= maxTries) client.end();
  };
  client.on('authentication', (context: AuthContext) => {
    node.records.count('authAttempts');
    mayLogIn(context, node, isLocked).then(
      (made) => {
        if (made === undefined) return refuse(context);
        login.command = made.command;
        context.accept();
      },
      () => refuse(context),
    );
  });
  return login;
}

/**
 * The three lines that a Mac's sshd prints before it prompts for the FileVault password. They were captured from `ssh
 * host` with a locked macOS 26, and published in the README of avm, a tool for macOS virtual machines.
 *
 * @see apple_ssh_and_filevault(7): password only, no keys, wired network only
 */
export const prebootBanner =
  'This system is locked. To unlock it, use a local account\nname and password. Once successfully\nunlocked, you will be able to connect normally.';

/** Printed after the correct password, from the same capture; then the connection closes. */
export const unlockedText = 'System successfully unlocked.\n';

/** Time after which a client without a session is disconnected. */
const patienceMs = 1_000;

/** Serves a client after the correct password: prints the text in every session, and closes the connection. */
function servePreboot(connection: Connection, unlock: () => void): void {
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    connection.end();
    unlock();
  };
  const timer = setTimeout(end, patienceMs);
  const say = (channel: ServerChannel): void => {
    channel.on('error', () => undefined);
    channel.write(unlockedText);
    channel.exit(0);
    channel.end();
    setTimeout(end, patienceMs / 20);
  };
  connection.on('session', (accept) => {
    const session = accept();
    session.on('pty', (acceptPty) => acceptPty?.());
    session.on('shell', (acceptShell) => say(acceptShell()));
    session.on('exec', (acceptExec) => say(acceptExec()));
  });
  connection.once('close', end);
}
