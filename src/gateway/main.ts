import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayConfig } from '../model/gateway.ts';
import { type RunningGateway, startGateway, usualLimits } from './gateway.ts';
import { type GatewayLog, openGatewayLog } from './log.ts';
import { readGatewayConfig } from './read-config.ts';

/** How often the gateway saves its counts if they have changed. */
const keepEveryMs = 10_000;

/** How often the gateway retries a port that is in use. */
const tryEveryMs = 500;

/** Logs why the gateway exits; launchd then restarts the gateway. */
function fail(error: unknown): never {
  openGatewayLog([])({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}

/** Starts the gateway. Waits if its port is still in use, for example by the runtime that used the port before. */
async function takeThePlace(config: GatewayConfig, log: GatewayLog): Promise<RunningGateway> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await startGateway(config, usualLimits, log);
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken) throw error;
      if (tries === 0) log({ kind: 'port-taken', port: config.listen.port });
      await sleep(tryEveryMs);
    }
  }
}

/** Runs until SIGTERM, SIGINT or SIGQUIT. By default, SIGQUIT would dump the process's memory to a core file. */
async function run(path?: string, listen?: string, version?: string): Promise<void> {
  if (path === undefined || listen === undefined) throw new Error('usage: gateway CONFIG ADDRESS:PORT [VERSION]');
  const config = await readGatewayConfig(path, listen, version);
  const log = openGatewayLog(config.upstreams.map(({ placement }) => placement));
  const gateway = await takeThePlace(config, log);
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) process.on(signal, () => ending.abort());
  log({ kind: 'listening', address: config.listen.address, port: gateway.port });
  while (!ending.signal.aborted) {
    await sleep(keepEveryMs, undefined, { signal: ending.signal }).catch(() => undefined);
    // A full disk must not affect clients.
    await gateway.keepCounts().catch(() => undefined);
  }
  log({ kind: 'stopping' });
  await gateway.stop();
}

// By default, Node opens its debugger on SIGUSR1, and any account on this Mac could use the debugger.
process.on('SIGUSR1', () => undefined);
await run(...process.argv.slice(2)).catch(fail);
process.exit(0);
