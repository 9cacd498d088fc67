import { spawn, spawnSync } from 'node:child_process';

/** Where and how a command of our own is run. */
export interface SelfPlace {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What becomes of the command when the run that started it is interrupted. */
interface SelfEnd {
  readonly signal: AbortSignal;
  /** False for a command that must come to its own end, because it leaves something behind that is to be found. */
  readonly mayBeKilled: boolean;
}

/**
 * Runs `meshwright WORDS…` as a process of its own that writes to this process's streams; gives its exit code. It has
 * a session of its own, so that Ctrl-C reaches this process alone.
 */
export function runSelf(words: readonly string[], place: SelfPlace, end: SelfEnd): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, selfEntry(), ...words], {
      cwd: place.folder,
      env: place.env,
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    const kill = (): void => {
      if (end.mayBeKilled) child.kill('SIGKILL');
    };
    end.signal.addEventListener('abort', kill, { once: true });
    child.once('error', reject);
    child.once('close', (code) => {
      end.signal.removeEventListener('abort', kill);
      resolve(code ?? 1);
    });
  });
}

/** The same in silence, to its end, while everything else in this process waits. */
export function runSelfSync(words: readonly string[], place: SelfPlace): void {
  spawnSync(process.execPath, [...process.execArgv, selfEntry(), ...words], {
    cwd: place.folder,
    env: place.env,
    stdio: 'ignore',
    timeout: 30_000,
  });
}

/** The file that was started as `meshwright`. */
export function selfEntry(): string {
  const entry = process.argv[1];
  if (entry === undefined) throw new Error('this process has no entry file');
  return entry;
}
