import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Ground } from './ground.ts';
import { startBound } from './run-program.ts';

/**
 * Connects on behalf of others from the network that it stands in: whoever connects to its socket first names an
 * address and a port in one line, then speaks with whoever listens there. A refused connection ends at once, a silent
 * one stays as it is.
 */
const forwarderProgram = `
const net = require('node:net');
const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
  client.on('error', () => client.destroy());
  let head = Buffer.alloc(0);
  const read = (chunk) => {
    head = Buffer.concat([head, chunk]);
    const at = head.indexOf(10);
    if (at < 0) return;
    client.off('data', read);
    client.pause();
    const [host, port] = head.subarray(0, at).toString().split(' ');
    const far = net.connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true });
    far.on('error', () => client.destroy());
    far.on('close', () => client.destroySoon());
    client.on('close', () => far.destroy());
    far.once('connect', () => {
      far.write(head.subarray(at + 1));
      client.pipe(far);
      far.pipe(client);
    });
  };
  client.on('data', read);
  client.resume();
});
server.listen(process.argv[1], () => process.stdout.write('up\\n'));
process.stdin.on('end', () => process.exit(0)).resume();
`;

/** Reaches addresses of the office network from outside of it. */
export interface Forwarder {
  readonly dial: (address: string, port: number) => Socket;
  readonly close: () => Promise<void>;
}

/** Starts it in the network of the ground. `path` is where it listens, a socket that only this user can use. */
export async function startForwarder(ground: Ground, path: string, mark: string): Promise<Forwarder> {
  const net = `--net=/proc/${ground.pid}/ns/net`;
  const words = ['nsenter', net, process.execPath, '-e', forwarderProgram, path];
  const child = startBound({ words, mark, stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout } = child;
  if (stdout === null) throw new Error('no output of the forwarder');
  const ended = once(child, 'close');
  const up = once(createInterface({ input: stdout }), 'line');
  const failed = ended.then(() => {
    throw new Error('the forwarder of the simulated fleet did not start');
  });
  await Promise.race([up, failed]);
  failed.catch(() => undefined);
  return {
    dial: (address, port) => {
      const socket = connect({ path, allowHalfOpen: true });
      socket.on('error', () => undefined);
      socket.write(`${address} ${port}\n`);
      return socket;
    },
    close: async () => {
      stdin?.end();
      child.kill('SIGKILL');
      await ended.catch(() => undefined);
    },
  };
}
