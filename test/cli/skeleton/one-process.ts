import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environment, mainFile } from '../meshwright.ts';
import type { Place } from '../place.ts';

const program = fileURLToPath(new URL('many-runs.mjs', import.meta.url));

/** Longer than any run on a busy machine, even if it waits for a lost Mac. */
const longestRunMs = 600_000;

/** The exit code and the standard output of a command. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
}

/** One process that runs commands one after another. */
export interface OneProcess {
  readonly run: (words: readonly string[]) => Promise<Ended>;
  readonly end: () => Promise<void>;
}

async function answered(child: ChildProcess, words: readonly string[]): Promise<Ended> {
  const ended = new AbortController();
  const timeOut = setTimeout(() => ended.abort(), longestRunMs);
  const gone = () => ended.abort();
  child.once('exit', gone);
  try {
    child.send({ words });
    const [answer] = (await once(child, 'message', { signal: ended.signal })) as [Ended];
    return answer;
  } catch (cause) {
    throw new Error(`meshwright ${words.join(' ')} did not finish`, { cause });
  } finally {
    clearTimeout(timeOut);
    child.off('exit', gone);
  }
}

/** Starts the process in a place; only `end` stops it. */
export async function startOneProcess(place: Place, env: Readonly<Record<string, string>>): Promise<OneProcess> {
  const child = fork(program, [mainFile], { cwd: place.folder, env: environment(place, env), execArgv: [] });
  await once(child, 'message');
  return {
    run: (words) => answered(child, words),
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
