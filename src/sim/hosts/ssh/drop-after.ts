import type { Socket } from 'node:net';

const lingerMs = 2_000;

/**
 * Makes the node hang up after exactly `bytes` bytes towards the client. It ends with FIN, not RST: a reset would
 * discard what the client has not read yet, and the cut would not be exact. Only for a socket that ssh2 writes to:
 * ssh2 calls `write` with one argument and ignores its result.
 */
export function dropAfter(socket: Socket, bytes: number): void {
  const write = socket.write.bind(socket);
  let left = bytes;
  const cut = (): void => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  Object.defineProperty(socket, 'write', {
    // Node itself replaces `write` when the client ends its side; a fixed property would end the simulator.
    configurable: true,
    writable: true,
    value: (chunk: Uint8Array): boolean => {
      if (left <= 0) return false;
      const part = chunk.subarray(0, left);
      left -= part.length;
      const isFlushed = write(part);
      if (left <= 0) cut();
      return isFlushed;
    },
  });
  if (left <= 0) cut();
}
