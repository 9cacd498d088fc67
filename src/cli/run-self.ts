import { spawn } from 'node:child_process';

/** Where and how a command of our own is run. */
export interface SelfPlace {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Nothing of what it prints is shown. */
  readonly isQuiet: boolean;
}

/** Runs `meshwright WORDS…` as a process of its own with this process's streams; gives its exit code. */
export function runSelf(words: readonly string[], place: SelfPlace): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, selfEntry(), ...words], {
      cwd: place.folder,
      env: place.env,
      stdio: place.isQuiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** The file that was started as `meshwright`. */
export function selfEntry(): string {
  const entry = process.argv[1];
  if (entry === undefined) throw new Error('this process has no entry file');
  return entry;
}
