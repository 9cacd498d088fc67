import type { ChildProcess } from 'node:child_process';
import { ended, type Ran, start } from './meshwright.ts';
import type { Place } from './place.ts';

/** A run of the program that continues until it is interrupted. */
export interface Talking {
  readonly child: ChildProcess;
  /** Waits until this text has appeared. */
  readonly until: (text: string) => Promise<void>;
  /** Presses Ctrl-C, and returns the result. */
  readonly interrupt: () => Promise<Ran>;
  readonly end: Promise<Ran>;
}

/** Starts the program and listens to it. */
export function listenTo(place: Place, words: readonly string[]): Talking {
  const child = start(place, words);
  const end = ended(child, words);
  let seen = '';
  const wake: (() => void)[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      for (const one of wake.splice(0)) one();
    });
  }
  return {
    child,
    until: async (text) => {
      while (!seen.includes(text)) {
        const news = new Promise<'news'>((resolve) => wake.push(() => resolve('news')));
        if ((await Promise.race([news, end])) !== 'news')
          throw new Error(`the program exited without printing ${text}:\n${seen}`);
      }
    },
    interrupt: () => {
      child.kill('SIGINT');
      return end;
    },
    end,
  };
}
