import { createServer, type Socket } from 'node:net';
import ssh2, { type AuthContext, type Connection, type ServerChannel } from 'ssh2';
import type { KeyPair } from './start-sshd.ts';

/** A session as the fault sees it: the channel of one exec request, its command, and what it came over. */
export interface FaultExec {
  readonly channel: ServerChannel;
  readonly command: string;
  readonly socket: Socket;
  readonly connection: Connection;
}

/** What a fault server does instead of being an honest node; what is left out, it does honestly. */
export interface Faults {
  /** Takes over the raw connection; no SSH is spoken unless it calls `speakSsh`. */
  readonly onSocket?: (socket: Socket, speakSsh: () => void) => void;
  readonly banner?: string;
  readonly algorithms?: ssh2.ServerConfig['algorithms'];
  readonly onAuth?: (context: AuthContext) => void;
  readonly onReady?: (socket: Socket) => void;
  readonly onExec?: (exec: FaultExec) => void;
  /** What the login shell does; refused unless given. */
  readonly onShell?: (channel: ServerChannel) => void;
  /** Whether a channel is opened; asked once for each that is wanted. */
  readonly isOpened?: () => boolean;
}

/** A server that fails on purpose, and what it has seen. */
export interface FaultServer {
  readonly port: number;
  /** `method` or `method:signed` of every login request, in order. */
  readonly logins: readonly string[];
  readonly commands: readonly string[];
  /** What else a client asked for: forwarding, a terminal, variables, a subsystem. */
  readonly extras: readonly string[];
  readonly counts: { readonly connections: number };
  readonly stop: () => Promise<void>;
}

function acceptKeys(context: AuthContext): void {
  if (context.method === 'publickey') context.accept();
  else context.reject(['publickey']);
}

/** Of one session, as ssh2 calls them. */
const extraRequests = ['auth-agent', 'env', 'pty', 'sftp', 'subsystem', 'x11'];

function endHonestly({ channel }: FaultExec): void {
  channel.exit(0);
  channel.end();
}

/** Starts an ssh2 server on a free loopback port that misbehaves as told. */
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
