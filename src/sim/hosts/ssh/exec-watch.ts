/** One command as it arrived, with everything that was sent to its standard input. */
export interface ReceivedExec {
  readonly node: string;
  readonly command: string;
  /** At most the first mebibyte. */
  readonly input: string;
  /** Number of the boot session in which it runs. */
  readonly boot: number;
}

/** Told of every command when it was received to the end and before the client can hear anything of it. */
type ExecListener = (exec: ReceivedExec) => void | Promise<void>;

/** A watch that nobody looks at yet. */
export function createExecWatch() {
  const listeners = new Set<ExecListener>();
  return {
    /** The returned function ends it. */
    add: (listener: ExecListener): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isWatched: () => listeners.size > 0,
    /** Resolves when every listener is content; one that fails is none. */
    tell: async (exec: ReceivedExec): Promise<void> => {
      for (const listener of [...listeners]) await Promise.resolve(listener(exec)).catch(() => undefined);
    },
  };
}

/** The listeners of a fleet. */
export type ExecWatch = ReturnType<typeof createExecWatch>;
