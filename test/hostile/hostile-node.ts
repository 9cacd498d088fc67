import { createRequire } from 'node:module';
import type { NodeWay } from '../../src/apply/reach/session.ts';
import type { RunNode } from '../../src/sim/hosts/control/run-folder.ts';
import type { RunningRack } from '../rack/running.ts';
import { type FaultExec, type Faults, startFaultServer } from '../sshd/fault-server.ts';
import type { KeyPair } from '../sshd/start-sshd.ts';
import { printFrames, type Said, tokenIn } from './recorded-frames.ts';

/** A node that does not mean well, on loopback. */
export interface HostileNode {
  /** As a run file names it. */
  readonly run: RunNode;
  readonly way: (rack: RunningRack, node: string) => NodeWay;
  /** Bytes that have left it, of all connections, dead and alive. */
  readonly sentBytes: () => number;
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
}

/** A host key that hostile nodes share. */
export interface HostKeyPair {
  readonly privateKey: string;
  readonly pair: KeyPair;
}

/** Starts one; `faults` as for any server that fails on purpose. */
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

/** Answers an observation with these bytes, made for its token, and ends honestly. */
const answering =
  (bytes: (token: string) => Buffer) =>
  ({ channel, command }: FaultExec): void => {
    channel.write(bytes(tokenIn(command)));
    channel.exit(0);
    channel.end();
  };

/** Answers an observation with well-formed frames in which the tools say this. */
export const saying = (said: readonly Said[]): ((exec: FaultExec) => void) =>
  answering((token) => printFrames(token, said));

/** Writes without end, as fast as it is read, on one of the two streams. */
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

/** Ends a command with a signal of any name; ssh2's own server would refuse to send one that it does not know. */
export const signalling =
  (name: string, message: string) =>
  ({ channel }: FaultExec): void => {
    const key = name.toUpperCase();
    knownSignals[key] = 1;
    channel.exit(key as 'KILL', false, message);
    delete knownSignals[key];
    channel.end();
  };

/** One unencrypted packet of the SSH protocol (RFC 4253 section 6). */
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

/** SSH_MSG_KEXINIT whose every list holds one name (RFC 4253 section 7.1). */
export const keyExchangePacket = (name: string): Buffer =>
  plainPacket(
    Buffer.concat([
      Buffer.from([20]),
      Buffer.alloc(16, 7),
      ...Array.from({ length: 10 }, () => wireString(name)),
      Buffer.alloc(5),
    ]),
  );
