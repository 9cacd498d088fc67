import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** What was seen of processes: each word list and each `NAME=value` once; of environments nothing but on Linux. */
export interface ProcessWords {
  readonly argv: readonly string[];
  readonly environment: readonly string[];
}

const everyMs = 20;

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended, or belongs to somebody else.
    return '';
  }
};

/** Looks at every process of this computer again and again, until it is stopped. */
export function watchProcesses(): () => ProcessWords {
  const argv = new Set<string>();
  const environment = new Set<string>();
  const look = (): void => {
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
  const timer = setInterval(look, everyMs);
  return () => {
    clearInterval(timer);
    look();
    return { argv: [...argv], environment: [...environment] };
  };
}

/** One program that the command line started. */
export interface Spawned {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Writes a module that notes every program which a Node process starts, in a file of one JSON line each. Node loads it
 * by `--require`, before the program itself.
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

/** What such a module has noted. */
export const readSpawnNotes = (notes: string): readonly Spawned[] =>
  readFileSync(notes, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
