import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environment, mainFile } from '../meshwright.ts';
import type { Place } from '../place.ts';

const program = fileURLToPath(new URL('many-runs.mjs', import.meta.url));

/** Longer than any run takes on a busy machine, also one that waits for a Mac that never comes back. */
const longestRunMs = 600_000;

/** How a command line ended, and what it wrote to its standard output. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
}

/** One process that runs command lines, one after the other. */
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
    throw new Error(`meshwright ${words.join(' ')} came to no end`, { cause });
  } finally {
    clearTimeout(timeOut);
    child.off('exit', gone);
  }
}

/** Starts it in a place; only `end` ends it. */
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
