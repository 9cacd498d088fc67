import type { Digest } from './digest.ts';

/** A placement behind an API gateway. */
export interface GatewayUpstream {
  readonly placement: string;
  /** The model name that clients send. */
  readonly servedName: string;
  /** TCP port of the runtime on 127.0.0.1. */
  readonly port: number;
  /** The `model` that the runtime expects; an unknown name makes some runtimes load a different model. */
  readonly model: string;
  /** Whether an answer may be canceled when its client disconnects; otherwise it is read to its end and discarded. */
  readonly canCancel: boolean;
  /** Requests that the runtime answers in parallel; others wait for their turn. */
  readonly maxRequests: number;
  /** Request fields that would make the runtime load something else; the gateway refuses them. */
  readonly refusedFields?: readonly string[];
}

/** A gateway's settings: address and version from its arguments, the rest from its file. All paths are absolute. */
export interface GatewayConfig {
  readonly listen: { readonly address: string; readonly port: number };
  /** The version of its files, which it reports: a file on disk does not show what a process has read. */
  readonly version?: string;
  readonly upstreams: readonly GatewayUpstream[];
  /** Folder with one file per placement, its {@link GatewayKeys} as JSON; a changed file is read again. */
  readonly keysFolder: string;
  /** Folder in which a file named after a placement keeps it closed; the file's first line is the reason. */
  readonly closedFolder: string;
  /** Addresses of proxies, which the limit on connections from one address does not apply to. */
  readonly proxies: readonly string[];
  /** The file that keeps the counts of earlier runs. */
  readonly countsFile: string;
}

/** The accepted keys of a placement: hashes of {@link doormanKeyDomain} and the key. */
export interface GatewayKeys {
  readonly keys: readonly Digest[] | 'anybody';
}

/** What stands before a key when it is hashed, so that its hash is of no use for anything else. */
export const doormanKeyDomain = 'meshwright doorman\0';

/** A gateway's counts for one placement since it was created, without any text of prompts or answers. */
export interface GatewayCounts {
  /** When counting began, by the node's clock; absent in counts that an older gateway began. */
  readonly sinceEpochSeconds?: number;
  /** Answered completely. */
  readonly requests: number;
  /** Broken off by the client or the runtime, or refused by the runtime. */
  readonly failed: number;
  /** Refused by the gateway: closed, or too many in parallel. */
  readonly refused: number;
  /** From the runtime's `usage`, otherwise one for each piece of text. */
  readonly tokens: number;
  /** From the arrival of the request to the first text of a streamed answer. */
  readonly firstToken: { readonly count: number; readonly totalMs: number; readonly lastMs: number };
  /** From the first text of a streamed answer to its end. */
  readonly generating: { readonly tokens: number; readonly totalMs: number; readonly lastPerSecond: number };
}

/** A runtime's requests now, and how long it has been silent. */
export interface FlowSight {
  /** Requests at the runtime, and requests that wait for their turn. */
  readonly running: number;
  readonly waiting: number;
  /** Since the runtime's last bytes, refusals excluded; absent if none came since the gateway started. */
  readonly lastByteMsAgo?: number;
  /**
   * How long the runtime has sent nothing although it has requests; absent while it has none, and while a slow client
   * holds it back. A busy mesh is silent while it reads a prompt.
   */
  readonly quietMs?: number;
  /**
   * How much of that time a streamed request was in flight; absent while there is none, and from an older gateway. A
   * request that is not streamed is silent until its whole answer is ready.
   */
  readonly streamQuietMs?: number;
}

/** One placement, as its gateway reports it. */
export interface EndpointStatus extends FlowSight {
  readonly placement: string;
  /** Why it is closed; absent while it accepts requests. */
  readonly closed?: string;
  readonly counts: GatewayCounts;
}

/** What a running gateway reports at its port. */
export type GatewayStatus =
  | {
      readonly kind: 'answered';
      readonly port: number;
      /** The version of its files; an older gateway does not report it. */
      readonly version?: string;
      /** Requests without an accepted key. */
      readonly strangers: number;
      readonly doors: readonly EndpointStatus[];
    }
  /** It gave no readable answer; its counts are unknown. */
  | { readonly kind: 'silent'; readonly port: number; readonly reason: string };
