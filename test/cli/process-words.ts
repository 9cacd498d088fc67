import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The observed processes: each command line and, on Linux only, each environment entry, once. */
export interface ProcessWords {
  readonly argv: readonly string[];
  readonly environment: readonly string[];
}

const everyMs = 20;

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has exited or belongs to a different user.
    return '';
  }
};

/** Records all processes of this computer until it is stopped. */
export function watchProcesses(): () => ProcessWords {
  const argv = new Set<string>();
  const environment = new Set<string>();
  const record = (): void => {
    if (process.platform !== 'linux') {
      const all = execFileSync('ps', ['-axww', '-o', 'args='], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
      for (const line of all.split('\n')) argv.add(line);
      return;
    }
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      argv.add(textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));
      for (const entry of textOf(`/proc/${pid}/environ`).split('\0')) environment.add(entry);
    }
  };
  const timer = setInterval(record, everyMs);
  return () => {
    clearInterval(timer);
    record();
    return { argv: [...argv], environment: [...environment] };
  };
}

/** A program that the command line started. */
export interface Spawned {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Writes a module that records every program that a Node process starts, one JSON line each. Node loads it with
 * `--require`, before the main program.
 */
export function writeSpawnNotes(module: string, notes: string): void {
  writeFileSync(
    module,
    `const programs = require('node:child_process');
const { appendFileSync } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']) {
  const real = programs[name];
  programs[name] = (program, ...rest) => {
    const words = Array.isArray(rest[0]) ? rest[0] : [];
    const options = rest.find((one) => typeof one === 'object' && one !== null && !Array.isArray(one)) ?? {};
    const noted = { argv: [program, ...words].map(String), env: options.env ?? process.env };
    appendFileSync(${JSON.stringify(notes)}, JSON.stringify(noted) + '\\n');
    return real(program, ...rest);
  };
}
syncBuiltinESMExports();
`,
  );
}

/** The programs that such a module has recorded. */
export const readSpawnNotes = (notes: string): readonly Spawned[] =>
  readFileSync(notes, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
