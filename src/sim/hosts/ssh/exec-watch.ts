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
export type ExecListener = (exec: ReceivedExec) => void | Promise<void>;

/** The listeners of a fleet. */
export interface ExecWatch {
  /** The returned function ends it. */
  readonly add: (listener: ExecListener) => () => void;
  readonly isWatched: () => boolean;
  /** Resolves when every listener is content; one that fails is none. */
  readonly tell: (exec: ReceivedExec) => Promise<void>;
}

/** A watch that nobody looks at yet. */
export function createExecWatch(): ExecWatch {
  const listeners = new Set<ExecListener>();
  return {
    add: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isWatched: () => listeners.size > 0,
    tell: async (exec) => {
      for (const listener of [...listeners]) await Promise.resolve(listener(exec)).catch(() => undefined);
    },
  };
}

const inputLimit = 1_048_576;

/** Holds the answers of one command back until it has been received whole and everybody was told. */
export interface ExecHold {
  readonly add: (chunk: Buffer) => void;
  /** Nothing more can be received: the client has ended its side, or the command has ended. */
  readonly received: () => void;
  /** Resolves when answers may go out. */
  readonly released: Promise<void>;
}

/** A hold for this command; one that lets everything through at once when nobody watches. */
export function createExecHold(watch: ExecWatch, exec: Omit<ReceivedExec, 'input'>): ExecHold {
  if (!watch.isWatched()) return { add: () => undefined, received: () => undefined, released: Promise.resolve() };
  const chunks: Buffer[] = [];
  let size = 0;
  let release: () => void = () => undefined;
  let isTold = false;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    released,
    add: (chunk) => {
      if (size < inputLimit) chunks.push(chunk);
      size += chunk.length;
    },
    received: () => {
      if (isTold) return;
      isTold = true;
      const input = Buffer.concat(chunks).subarray(0, inputLimit).toString('utf8');
      watch.tell({ ...exec, input }).then(release, release);
    },
  };
}
