import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listening } from '../../rack/listening.ts';

/** A slow web server, so that a job is still running when its controller is killed. */
export interface SlowFiles {
  readonly port: number;
  /** Files that were downloaded more than once at the same time since the last call. */
  readonly takeDoubled: () => readonly string[];
  readonly close: () => Promise<void>;
}

/**
 * Serves the files of a folder on the loopback interface, each in two halves with a pause between them. Like many
 * servers, it does not support ranges.
 */
export async function serveSlowly(folder: string, pauseMs: number): Promise<SlowFiles> {
  const now: string[] = [];
  const doubled = new Set<string>();
  const server = createServer((request, response) => {
    const name = basename(request.url ?? '');
    if (now.includes(name)) doubled.add(name);
    now.push(name);
    response.once('close', () => now.splice(now.indexOf(name), 1));
    const send = async (): Promise<void> => {
      const bytes = await readFile(join(folder, name));
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, bytes.length / 2));
      await sleep(pauseMs);
      response.end(bytes.subarray(bytes.length / 2));
    };
    send().catch(() => response.destroy());
  });
  const port = await listening(server);
  return {
    port,
    takeDoubled: () => {
      const found = [...doubled];
      doubled.clear();
      return found;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
