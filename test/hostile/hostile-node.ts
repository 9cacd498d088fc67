import { createRequire } from 'node:module';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import type { RunNode } from '../../src/sim/hosts/control/run-folder.ts';
import type { RunningRack } from '../rack/running.ts';
import { type FaultExec, type Faults, startFaultServer } from '../sshd/fault-server.ts';
import type { KeyPair } from '../sshd/start-sshd.ts';
import { printFrames, type Said, tokenIn } from './recorded-frames.ts';

/** A hostile node on loopback. */
export interface HostileNode {
  /** The node's entry in a run file. */
  readonly run: RunNode;
  readonly way: (rack: RunningRack, node: string) => NodeTarget;
  /** Bytes sent over all connections, open and closed. */
  readonly sentBytes: () => number;
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
}

/** The host key shared by hostile nodes. */
export interface HostKeyPair {
  readonly privateKey: string;
  readonly pair: KeyPair;
}

/** Starts a hostile node with `faults` like any fault server. */
export async function startHostileNode(key: HostKeyPair, faults: Faults): Promise<HostileNode> {
  const sockets: { readonly bytesWritten: number }[] = [];
  const onSocket: Faults['onSocket'] = (socket, speakSsh) => {
    sockets.push(socket);
    if (faults.onSocket) faults.onSocket(socket, speakSsh);
    else speakSsh();
  };
  const server = await startFaultServer(key, { ...faults, onSocket });
  const hostKey = key.pair.publicLine;
  return {
    run: { port: server.port, hostKey, root: '/nowhere', user: 'mesh' },
    way: (rack, node) => rack.way(node, { port: server.port, hostKey, rootPrefix: '/nowhere' }),
    sentBytes: () => sockets.reduce((sum, socket) => sum + socket.bytesWritten, 0),
    connections: () => server.counts.connections,
    stop: server.stop,
  };
}

/** Answers an observation with these bytes for its token, and exits normally. */
const answering =
  (bytes: (token: string) => Buffer) =>
  ({ channel, command }: FaultExec): void => {
    channel.write(bytes(tokenIn(command)));
    channel.exit(0);
    channel.end();
  };

/** Answers an observation with well-formed frames of these tool outputs. */
export const saying = (outputs: readonly Said[]): ((exec: FaultExec) => void) =>
  answering((token) => printFrames(token, outputs));

/** Writes endlessly on one of the two streams, as fast as it is read. */
export const pouring =
  (piece: Buffer, stream: 'stdout' | 'stderr' = 'stdout') =>
  ({ channel }: FaultExec): void => {
    const out = stream === 'stdout' ? channel : channel.stderr;
    const pour = (): void => {
      while (channel.writable && out.write(piece));
      if (channel.writable) out.once('drain', pour);
    };
    pour();
  };

const knownSignals: Record<string, number> = createRequire(import.meta.url)('ssh2/lib/protocol/constants.js').SIGNALS;

/** Ends a command with a signal of any name; ssh2's own server rejects unknown signals. */
export const signalling =
  (name: string, message: string) =>
  ({ channel }: FaultExec): void => {
    const key = name.toUpperCase();
    knownSignals[key] = 1;
    channel.exit(key as 'KILL', false, message);
    delete knownSignals[key];
    channel.end();
  };

/** An unencrypted packet of the SSH protocol (RFC 4253 section 6). */
export function plainPacket(payload: Buffer): Buffer {
  const short = 8 - ((payload.length + 5) % 8);
  const padding = short < 4 ? short + 8 : short;
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + padding);
  head.writeUInt8(padding, 4);
  return Buffer.concat([head, payload, Buffer.alloc(padding)]);
}

/** A string of the SSH protocol: its length and its bytes. */
function wireString(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** SSH_MSG_DISCONNECT with a text (RFC 4253 section 11.1). */
export const disconnectPacket = (text: string): Buffer =>
  plainPacket(Buffer.concat([Buffer.from([1, 0, 0, 0, 2]), wireString(text), wireString('en')]));

/** SSH_MSG_KEXINIT with one name in every list (RFC 4253 section 7.1). */
export const keyExchangePacket = (name: string): Buffer =>
  plainPacket(
    Buffer.concat([
      Buffer.from([20]),
      Buffer.alloc(16, 7),
      ...Array.from({ length: 10 }, () => wireString(name)),
      Buffer.alloc(5),
    ]),
  );
