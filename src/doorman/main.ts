import { setTimeout as sleep } from 'node:timers/promises';
import type { DoormanConfig } from '../model/doorman.ts';
import { type Doorman, startDoorman } from './doorman.ts';
import { readDoormanConfig } from './read-config.ts';

/** How often the counts are written down while they change. */
const keepEveryMs = 10_000;

/** How often a port that is taken is tried again. */
const tryEveryMs = 500;

/** Says why it ends; launchd puts that into the log and starts it again. */
function fail(error: unknown): never {
  process.stderr.write(`doorman: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

/** Opens the door; waits where somebody else still has the port, such as the runtime that was reached there before. */
async function takeThePlace(config: DoormanConfig): Promise<Doorman> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await startDoorman(config);
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken) throw error;
      if (tries === 0) process.stderr.write(`doorman: port ${config.listen.port} is taken; waiting for it\n`);
      await sleep(tryEveryMs);
    }
  }
}

/** Runs until SIGTERM, SIGINT or SIGQUIT, which would otherwise write its memory into a core file. */
async function run(path?: string, listen?: string, version?: string): Promise<void> {
  if (path === undefined || listen === undefined) throw new Error('usage: doorman CONFIG ADDRESS:PORT [VERSION]');
  const config = await readDoormanConfig(path, listen, version);
  const doorman = await takeThePlace(config);
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) process.on(signal, () => ending.abort());
  process.stderr.write(`doorman: listening on ${config.listen.address}:${doorman.port}\n`);
  while (!ending.signal.aborted) {
    await sleep(keepEveryMs, undefined, { signal: ending.signal }).catch(() => undefined);
    // A full disk takes no client away.
    await doorman.keepCounts().catch(() => undefined);
  }
  await doorman.stop();
}

// By itself Node would open its debugger, to every account of this Mac.
process.on('SIGUSR1', () => undefined);
await run(...process.argv.slice(2)).catch(fail);
process.exit(0);
