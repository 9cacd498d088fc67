import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { setInterval as every } from 'node:timers/promises';

/** A web server that pauses in the middle of every file of weights until it is released. */
export interface HeldFiles {
  readonly port: number;
  /** Resolves when the first half of a file of weights was sent. */
  readonly halfSent: Promise<unknown>;
  readonly release: () => void;
  /** The names of the requested files so far, in order. */
  readonly requests: readonly string[];
  readonly close: () => Promise<unknown>;
}

const pauseMs = 200;

/** Serves the files of a folder on the loopback interface. */
export async function holdFiles(folder: string): Promise<HeldFiles> {
  const requests: string[] = [];
  const released = new AbortController();
  const server = createServer((request, response) => {
    const name = basename(request.url ?? '');
    requests.push(name);
    const send = async (): Promise<void> => {
      const bytes = await readFile(join(folder, name));
      response.writeHead(200, { 'content-length': bytes.length });
      let sent = name.endsWith('.safetensors') && !released.signal.aborted ? Math.floor(bytes.length / 2) : 0;
      if (sent > 0) {
        response.write(bytes.subarray(0, sent));
        server.emit('half');
        // curl aborts a transfer after a minute without a byte.
        for await (const _ of every(pauseMs)) {
          if (released.signal.aborted || response.destroyed || sent + 1 >= bytes.length) break;
          response.write(bytes.subarray(sent, sent + 1));
          sent += 1;
        }
      }
      response.end(bytes.subarray(sent));
    };
    send().catch(() => response.destroy());
  });
  const halfSent = once(server, 'half');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    halfSent,
    release: () => released.abort(),
    requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
