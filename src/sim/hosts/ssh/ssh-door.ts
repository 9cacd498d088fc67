import type { Socket } from 'node:net';
import type { NodeDoor } from '../node-life.ts';

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

/** The door of a node that is shut while Remote Login is off, whatever else happens to its Mac. */
export interface RemoteLoginDoor extends NodeDoor {
  /** Opens or shuts it as the model now says; a Mac that is not there opens it when it comes up. */
  readonly follow: (isThere: boolean) => Promise<void>;
}

/** Puts the switch of Remote Login in front of a door. Connections that are open stay so. */
export function remoteLoginDoor(door: NodeDoor, isOff: () => boolean): RemoteLoginDoor {
  const listen = async (): Promise<void> => {
    if (!isOff()) await door.listen();
  };
  return {
    listen,
    refuse: door.refuse,
    cut: door.cut,
    follow: async (isThere) => {
      if (isOff()) door.refuse();
      else if (isThere) await listen();
    },
  };
}
