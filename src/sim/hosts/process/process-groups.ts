import type { Lifeline } from './lifeline.ts';

const surveyMs = 500;

/** A group whose first process is being started; told once how that came out. */
export interface ExpectedGroup {
  /** Adds the group, and ends it on the spot when everything of its node was ended meanwhile. */
  readonly started: (group: number) => void;
  readonly failed: () => void;
}

/** The process groups that the simulated fleet started and that are not empty yet. */
export interface ProcessGroups {
  /** `owner` is the node on which the group runs. */
  readonly add: (group: number, owner?: string) => void;
  /** To be asked before a process of a node is started: it counts from now on. */
  readonly expect: (owner: string) => ExpectedGroup;
  /** The first process of the group has ended; what it left behind stays guarded until it ends too. */
  readonly leaderEnded: (group: number) => void;
  readonly signal: (group: number, name: string) => void;
  /** How many groups have living processes, or are about to have some. */
  readonly count: () => number;
  /** Ends every group of a node at once. */
  readonly killOwned: (owner: string) => void;
  /** Ends every group at once, and stops looking. */
  readonly killAll: () => void;
}

function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

function signalGroup(group: number, name: string): void {
  try {
    process.kill(-group, name);
  } catch {
    // It ended by itself in the meantime.
  }
}

/** Keeps the groups under the lifeline from their first process to their last. */
export function createProcessGroups(lifeline: Lifeline): ProcessGroups {
  const running = new Set<number>();
  const orphaned = new Set<number>();
  const owners = new Map<number, string>();
  const ends = new Map<string, number>();
  let expected = 0;
  let isOver = false;
  const settle = (group: number): void => {
    if (isAlive(group)) {
      orphaned.add(group);
      return;
    }
    orphaned.delete(group);
    owners.delete(group);
    lifeline.release(group);
  };
  const survey = setInterval(() => {
    for (const group of orphaned) settle(group);
  }, surveyMs);
  survey.unref();
  const add = (group: number, owner?: string): void => {
    running.add(group);
    if (owner !== undefined) owners.set(group, owner);
    lifeline.guard(group);
  };
  return {
    add,
    expect: (owner) => {
      const before = ends.get(owner);
      expected += 1;
      return {
        started: (group) => {
          expected -= 1;
          add(group, owner);
          if (isOver || ends.get(owner) !== before) signalGroup(group, 'SIGKILL');
        },
        failed: () => {
          expected -= 1;
        },
      };
    },
    leaderEnded: (group) => {
      running.delete(group);
      settle(group);
    },
    signal: (group, name) => {
      if (running.has(group)) signalGroup(group, name);
    },
    count: () => running.size + orphaned.size + expected,
    killOwned: (owner) => {
      ends.set(owner, (ends.get(owner) ?? 0) + 1);
      for (const [group, by] of owners) if (by === owner) signalGroup(group, 'SIGKILL');
    },
    killAll: () => {
      isOver = true;
      clearInterval(survey);
      for (const group of [...running, ...orphaned]) signalGroup(group, 'SIGKILL');
    },
  };
}
