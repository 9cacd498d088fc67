import type { Digest } from './digest.ts';

/** A server of models behind a doorman: one placement. */
export interface DoormanUpstream {
  readonly placement: string;
  /** The one name under which clients ask for it. */
  readonly servedName: string;
  /** TCP port of the runtime on 127.0.0.1. */
  readonly port: number;
  /** What the runtime wants as `model`; a name that it does not know makes some load another model. */
  readonly model: string;
  /** Whether an answer may be given up when the client is gone; otherwise it is read to its end and thrown away. */
  readonly canCancel: boolean;
  /** Requests that the runtime answers at once; others wait for their turn. */
  readonly maxRequests: number;
  /** Fields of a request by which a client would have the runtime load something else; refused at the door. */
  readonly refusedFields?: readonly string[];
}

/** What a doorman is told: where it listens and what it is by words of its command line, all else by its file. All paths are absolute and of its own node. */
export interface DoormanConfig {
  readonly listen: { readonly address: string; readonly port: number };
  /** Of its files, as it says it again: files on a disk do not tell what a process has read. */
  readonly version?: string;
  readonly upstreams: readonly DoormanUpstream[];
  /** Folder in which a file with the name of a placement has its {@link DoormanKeys} as JSON; read again whenever it changes. */
  readonly keysFolder: string;
  /** Folder in which a file with the name of a placement keeps it closed: the first line of it is the reason. */
  readonly closedFolder: string;
  /** Addresses of proxies, which bring many clients: the bound on connections from one address is not for them. */
  readonly proxies: readonly string[];
  /** Where the counts of earlier runs are kept. */
  readonly countsFile: string;
}

/** Which bearer keys open a placement: hashes of {@link doormanKeyDomain} and the key. */
export interface DoormanKeys {
  readonly keys: readonly Digest[] | 'anybody';
}

/** What stands before a key when it is hashed, so that its hash is of no use for anything else. */
export const doormanKeyDomain = 'meshwright doorman\0';

/** What a doorman has counted of one placement since it was made; nothing of any prompt or answer. */
export interface DoormanCounts {
  /** When it began, by the clock of its node; absent of counts that an older doorman began. */
  readonly sinceEpochSeconds?: number;
  /** Answered to their end. */
  readonly requests: number;
  /** Broken off by the client, by the runtime, or refused by it. */
  readonly failed: number;
  /** Turned away at the door: closed, or too many at once. */
  readonly refused: number;
  /** As the runtime says it in `usage`, else one for each piece of text. */
  readonly tokens: number;
  /** From the arrival of the request to the first text of a streamed answer. */
  readonly firstToken: { readonly count: number; readonly totalMs: number; readonly lastMs: number };
  /** From the first text of a streamed answer to its end, over all of these. */
  readonly generating: { readonly tokens: number; readonly totalMs: number; readonly lastPerSecond: number };
}

/** What comes from a runtime now: how much is asked of it, and since when it is quiet. */
export interface FlowSight {
  /** Requests that the runtime has, and those that wait for their turn. */
  readonly running: number;
  readonly waiting: number;
  /** Since the last bytes of any answer but a refusal came from the runtime; absent where none has since the doorman was started. */
  readonly lastByteMsAgo?: number;
  /**
   * How long nothing has come from the runtime although it has requests; absent while it has none, and while a client
   * that reads slowly holds it back. A mesh that is only busy is quiet for as long as it reads a prompt.
   */
  readonly quietMs?: number;
  /**
   * How much of that time a request is there whose answer is streamed; absent while there is none, and from an older
   * doorman. A request that wants its answer in one piece is quiet for as long as the whole answer takes.
   */
  readonly streamQuietMs?: number;
}

/** One placement behind a doorman, as the doorman says it. */
export interface DoorSight extends FlowSight {
  readonly placement: string;
  /** Why it takes no requests; absent while it does. */
  readonly closed?: string;
  readonly counts: DoormanCounts;
}

/** What a doorman that has a process says of itself at its port. */
export type DoormanSight =
  | {
      readonly kind: 'answered';
      readonly port: number;
      /** Of the files that it was started with; an older doorman does not say it. */
      readonly version?: string;
      /** Requests without a right key. */
      readonly strangers: number;
      readonly doors: readonly DoorSight[];
    }
  /** It gave no answer that can be read; nothing is known of its counts. */
  | { readonly kind: 'silent'; readonly port: number; readonly reason: string };
