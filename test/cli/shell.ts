import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ended, environment, mainFile, type Ran, type RunOptions } from './meshwright.ts';
import type { Place } from './place.ts';

/** Installs a program that a place's shell finds first. */
export function install(place: Place, name: string, text: string): void {
  const path = join(place.root, 'bin', name);
  mkdirSync(join(place.root, 'bin'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

/** The command that runs the built program with the arguments of a script. */
export const program = `exec "${process.execPath}" "${mainFile}" "$@"`;

/** Runs a script in bash with the programs that the place has installed; the first command that fails ends it. */
export function shell(place: Place, script: string, options: RunOptions = {}): Promise<Ran> {
  const child = spawn('bash', ['-e', '-c', script], {
    cwd: options.folder ?? place.folder,
    env: { ...environment(place, options.env), PATH: `${join(place.root, 'bin')}:${place.env['PATH']}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return ended(child, [script]);
}
