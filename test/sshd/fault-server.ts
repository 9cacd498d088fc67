import { createServer, type Socket } from 'node:net';
import ssh2, { type AuthContext, type Connection, type ServerChannel } from 'ssh2';
import type { KeyPair } from './start-sshd.ts';

/** One exec request as a fault receives it: its channel, command, socket and connection. */
export interface FaultExec {
  readonly channel: ServerChannel;
  readonly command: string;
  readonly socket: Socket;
  readonly connection: Connection;
}

/** The faults of a fault server. Without an entry, the server behaves like an honest node. */
export interface Faults {
  /** Takes over the raw connection; no SSH is spoken unless it calls `speakSsh`. */
  readonly onSocket?: (socket: Socket, speakSsh: () => void) => void;
  readonly banner?: string;
  readonly algorithms?: ssh2.ServerConfig['algorithms'];
  readonly onAuth?: (context: AuthContext) => void;
  readonly onReady?: (socket: Socket) => void;
  readonly onExec?: (exec: FaultExec) => void;
  /** The behavior of the login shell; without it, a shell is refused. */
  readonly onShell?: (channel: ServerChannel) => void;
  /** False if the next channel is refused; called once for each requested channel. */
  readonly isOpened?: () => boolean;
}

/** A server that fails on purpose, with a record of what it received. */
export interface FaultServer {
  readonly port: number;
  /** `method` or `method:signed` of every login request, in order. */
  readonly logins: readonly string[];
  readonly commands: readonly string[];
  /** Other requests of clients: forwarding, a terminal, variables, a subsystem. */
  readonly extras: readonly string[];
  readonly counts: { readonly connections: number };
  readonly stop: () => Promise<void>;
}

function acceptKeys(context: AuthContext): void {
  if (context.method === 'publickey') context.accept();
  else context.reject(['publickey']);
}

/** Requests within a session, under their names in ssh2. */
const extraRequests = ['auth-agent', 'env', 'pty', 'sftp', 'subsystem', 'x11'];

function endHonestly({ channel }: FaultExec): void {
  channel.exit(0);
  channel.end();
}

/** Starts an ssh2 server with these faults on a free loopback port. */
export async function startFaultServer(
  hostKey: { readonly privateKey: string; readonly pair: KeyPair },
  faults: Faults,
): Promise<FaultServer> {
  const logins: string[] = [];
  const commands: string[] = [];
  const extras: string[] = [];
  const counts = { connections: 0 };
  const sockets = new Set<Socket>();

  const serve = (connection: Connection, socket: Socket): void => {
    connection.on('error', () => undefined);
    connection.on('authentication', (context) => {
      logins.push(
        context.method === 'publickey' && context.signature !== undefined ? 'publickey:signed' : context.method,
      );
      (faults.onAuth ?? acceptKeys)(context);
    });
    connection.on('ready', () => faults.onReady?.(socket));
    for (const name of ['request', 'tcpip', 'openssh.streamlocal'])
      connection.on(name as 'request', () => extras.push(name));
    connection.on('session', (accept, reject) => {
      if (faults.isOpened?.() === false) return reject();
      const session = accept();
      for (const name of extraRequests) session.on(name as 'pty', () => extras.push(name));
      const { onShell } = faults;
      if (onShell !== undefined) session.on('shell', (acceptShell) => onShell(acceptShell()));
      session.on('exec', (acceptExec, _reject, info) => {
        const channel = acceptExec();
        commands.push(info.command);
        channel.on('error', () => undefined);
        (faults.onExec ?? endHonestly)({ channel, command: info.command, socket, connection });
      });
    });
  };

  const server = createServer({ noDelay: true }, (socket) => {
    counts.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    const speakSsh = (): void => {
      const algorithms = faults.algorithms === undefined ? {} : { algorithms: faults.algorithms };
      const banner = faults.banner === undefined ? {} : { banner: faults.banner };
      const ssh = new ssh2.Server({ hostKeys: [hostKey.privateKey], ...algorithms, ...banner }, (connection) =>
        serve(connection, socket),
      );
      ssh.injectSocket(socket);
    };
    if (faults.onSocket === undefined) speakSsh();
    else faults.onSocket(socket, speakSsh);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  return { port, logins, commands, extras, counts, stop };
}
