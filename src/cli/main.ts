#!/usr/bin/env node
import { dirname } from 'node:path';
import { argv, env, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { cacheCompiledCode } from './compiled-code.ts';
import { readVersion } from './version.ts';

// Scripts call this option in loops, so it is handled before anything else is loaded.
if (argv.length === 3 && argv[2] === '--version') process.stdout.write(`meshwright ${readVersion()}\n`);
else void run();

async function run(): Promise<void> {
  // Without a handler, Node would open its debugger to every account on this computer.
  process.on('SIGUSR1', () => undefined);
  cacheCompiledCode(dirname(fileURLToPath(import.meta.url)));
  const { runCommandLine } = await import('./run.ts');
  const { outputWritten } = await import('./terminal/console.ts');
  const code = await runCommandLine(argv.slice(2), env, workingFolder());
  process.exitCode = code;
  // A pipe accepts 64 KiB at a time, and its reader can be slow. Exiting now would lose unwritten output.
  await outputWritten();
  // Sockets are closed by now; only a library's stray handle could keep the process alive.
  setTimeout(() => exit(code), 2_000).unref();
}

/** The current folder; undefined if it no longer exists, for example after switching branches. */
function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
