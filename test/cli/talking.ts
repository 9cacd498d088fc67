import type { ChildProcess } from 'node:child_process';
import { expect } from 'vitest';
import { eventually } from '../rack/running.ts';
import { ended, meshwright, type Ran, start } from './meshwright.ts';
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
export function listenTo(place: Place, words: readonly string[], longestMs?: number): Talking {
  const child = start(place, words);
  const end = ended(child, words, longestMs);
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

/** Sends a signal to the program as soon as something has happened. */
export async function endedBy(
  signal: NodeJS.Signals,
  place: Place,
  words: readonly string[],
  hasHappened: () => boolean | Promise<boolean>,
): Promise<Ran> {
  const child = start(place, words);
  const end = ended(child, words);
  expect(await eventually(hasHappened)).toBe(true);
  child.kill(signal);
  return end;
}

/** A run that has the lease of a node until the file `over` exists there; minutes of a simulated Mac take seconds. */
const leasing = `playbook: 1
plays:
  - nodes: [studio-4]
    tasks:
      - run:
          command: [sh, -c, "while [ ! -e over ]; do sleep 1; done"]
          effect: none
          deadline: 90m
`;

/** Starts a run that has the lease of studio-4, and waits until it has it. */
export async function holdLease(place: Place): Promise<Talking> {
  place.write('hold.yaml', leasing);
  const holder = listenTo(place, ['run', 'hold.yaml', '--sim', '--yes'], 200_000);
  while (!/"held":\s*true/.test((await meshwright(place, ['lease', 'status', '--sim', '--json'])).stdout)) {
    if (holder.child.exitCode !== null) throw new Error(`the holder exited: ${(await holder.end).stderr}`);
  }
  return holder;
}
