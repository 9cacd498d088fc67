import type { Digest } from './digest.ts';
import type { FactsDoor, FactsDoormen } from './documents.generated.ts';

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

/** What a running gateway reports at its port; `silent`: it gave no readable answer, so its counts are unknown. */
export type GatewayStatus = FactsDoormen[number];

/** One placement, as its gateway reports it, without any text of prompts or answers. */
export type EndpointStatus = FactsDoor;

/** A gateway's counts for one placement since it was created. Tokens are from the runtime's `usage`, else pieces of text. */
export type GatewayCounts = EndpointStatus['counts'];

/**
 * A runtime's requests now, and how long it has been silent. A busy mesh is silent while it reads a prompt; a request that
 * is not streamed is silent until its whole answer is ready.
 */
export type EndpointTraffic = Omit<EndpointStatus, 'placement' | 'closed' | 'counts'>;
