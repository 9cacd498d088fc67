import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import ssh2 from 'ssh2';
import type { ConnectionState } from '../../model/mac.ts';
import { prebootBanner, servePreboot } from '../preboot.ts';
import type { NodeRecords } from '../records.ts';
import { authenticate } from './authenticate.ts';
import { authorizedKeys } from './authorized-keys.ts';
import { dropAfter } from './drop-after.ts';
import type { KeyFile } from './host-keys.ts';
import { type SessionNode, serveSessions } from './sessions.ts';

/** What one simulated node's ssh server needs. */
export interface NodeServerOptions {
  readonly node: SessionNode;
  /** Its own host key, and the one that a reinstalled or impersonated Mac would show. */
  readonly keys: { readonly own: KeyFile; readonly other: KeyFile; readonly preboot: KeyFile };
  /** Somebody gave the sshd before FileVault a password. */
  readonly onPrebootPassword: () => void;
  /** It was the right one. */
  readonly unlock: () => void;
  /** Asked at each attempt: the password of the account. */
  readonly password: () => string;
  /** Tried first; taken from an earlier run so that known_hosts entries stay true. */
  readonly preferredPort?: number;
  /** Asked at each new connection: what the node's ssh server does at that moment. */
  readonly connectionState: () => ConnectionState;
}

/** The ssh server of a simulated node. */
export interface NodeServer {
  readonly port: number;
  /** Listens again on its port after {@link refuse}, if it does not listen. @throws the system's error when somebody else keeps the port */
  readonly listen: () => Promise<void>;
  /** Refuses new connections; living ones go on. */
  readonly refuse: () => void;
  /** Cuts every living connection. */
  readonly cut: () => void;
  /** Refuses and cuts, for good. */
  readonly close: () => Promise<void>;
}

const loopback = '127.0.0.1';
const portAttempts = 200;
const portPauseMs = 50;
/** sshd's LoginGraceTime. */
const loginGraceMs = 120_000;

/** What the sshd of a current macOS offers, as far as ssh2 can speak it. */
const algorithms = {
  kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256', 'diffie-hellman-group14-sha256'],
  serverHostKey: ['ssh-ed25519'],
  cipher: ['chacha20-poly1305@openssh.com', 'aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256'],
} satisfies ssh2.ServerConfig['algorithms'];

function listen(server: NetServer, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (port !== 0 && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) resolve(false);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(port, loopback, () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

/** Which of its keys a Mac shows. */
const shownKey = ({ hostKey, filevault, prebootKey }: ConnectionState): keyof NodeServerOptions['keys'] =>
  filevault === 'preboot' && hostKey === 'own' && prebootKey !== 'same' ? 'preboot' : hostKey;

/** Speaks ssh on one socket; a server object per connection, because ssh2 fixes host key and banner per server. */
function greet(options: NodeServerOptions, socket: Socket, connection: number): void {
  const state = options.connectionState();
  const { node, keys, password } = options;
  const isLocked = state.filevault === 'preboot';
  if (state.dropAfterBytes !== undefined) dropAfter(socket, state.dropAfterBytes);
  const grace = setTimeout(() => socket.destroy(), loginGraceMs).unref();
  socket.once('close', () => clearTimeout(grace));
  const from = `${socket.remoteAddress} ${socket.remotePort}`;
  const to = `${socket.localAddress} ${socket.localPort}`;

  const server = new ssh2.Server({
    hostKeys: [keys[shownKey(state)].privateText],
    ident: 'Simulated_Mac',
    algorithms,
    ...(isLocked && { banner: prebootBanner }),
  });
  server.on('connection', (client, { header }) => {
    client.on('error', () => undefined);
    client.once('ready', () => clearTimeout(grace));
    authenticate(client, {
      user: node.user,
      keys: () => (isLocked ? Promise.resolve([]) : authorizedKeys(node.root, node.user)),
      password,
      onPassword: () => isLocked && options.onPrebootPassword(),
      methods: isLocked ? ['password'] : ['publickey', 'password', 'keyboard-interactive'],
      onAttempt: () => node.records.count('authAttempts'),
    });
    if (isLocked) client.once('ready', () => servePreboot(client, options.unlock));
    else serveSessions(client, node, { software: header.versions.software, connection, from, to });
  });
  server.injectSocket(socket);
}

function track(socket: Socket, sockets: Set<Socket>, records: NodeRecords): void {
  sockets.add(socket);
  records.count('connections');
  socket.on('error', () => undefined);
  socket.once('close', () => {
    sockets.delete(socket);
    records.count('receivedBytes', socket.bytesRead);
    records.count('sentBytes', socket.bytesWritten);
  });
}

/**
 * Starts the ssh server of one simulated node on the loopback interface. Real SSH below, a socket of our own above:
 * faults cut it or speak with another key on the raw connection.
 *
 * @throws the system's error when no port of the loopback interface can be had
 */
export async function startNodeServer(options: NodeServerOptions): Promise<NodeServer> {
  const sockets = new Set<Socket>();
  const { records } = options.node;
  const net = createServer({ noDelay: true }, (socket) => {
    track(socket, sockets, records);
    greet(options, socket, records.counts().connections);
  });
  const isThere = options.preferredPort !== undefined && (await listen(net, options.preferredPort));
  if (!isThere) await listen(net, 0);
  const address = net.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    listen: () => listenAgain(net, port),
    refuse: () => {
      net.close();
    },
    cut,
    close: () =>
      new Promise((resolve) => {
        net.close(() => resolve());
        cut();
      }),
  };
}

/** Somebody may have been given the port for a connection of their own in the meantime: it is waited for. */
async function listenAgain(net: NetServer, port: number): Promise<void> {
  for (let attempt = 0; attempt < portAttempts && !net.listening; attempt += 1) {
    if (await listen(net, port)) return;
    await pause(portPauseMs);
  }
  if (!net.listening) throw new Error(`port ${port} of a simulated node is taken by somebody else`);
}
