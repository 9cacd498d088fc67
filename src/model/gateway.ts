import type { Digest } from './digest.ts';
import type { FactsEndpoint, FactsGateways } from './documents.generated.ts';

/**
 * What a request field must be. `text`: not blank. `texts`: a text or a list of texts. `token-biases`: numbers by token,
 * every token below the size of the vocabulary. `object`: without the refused members; one that lacks the needed member
 * is left out.
 */
export type FieldForm =
  | { readonly kind: 'text' | 'texts' }
  | { readonly kind: 'number'; readonly least: number; readonly most: number; readonly isWhole?: true }
  | { readonly kind: 'token-biases'; readonly below: number }
  | { readonly kind: 'object'; readonly refused?: readonly string[]; readonly needed?: string };

/** How a runtime answers clients. The gateway corrects what would mislead a client or harm the mesh. */
export interface RuntimeApi {
  /** The paths that the runtime answers; absent: unknown, so the gateway forwards all of its own. */
  readonly paths?: readonly string[];
  /** Request fields that would make the runtime load a different model; the gateway refuses them. */
  readonly refusedFields?: readonly string[];
  /** Forms of fields; the gateway refuses other values, because they would end the runtime or break off its answer. */
  readonly forms?: Readonly<Record<string, FieldForm>>;
  /** Set if the runtime refuses null where the OpenAI API has it for an absent field; the gateway removes such fields. */
  readonly refusesNull?: true;
  /** Set if the runtime downloads the images of a request from any address; the gateway refuses such images. */
  readonly fetchesImages?: true;
  /**
   * Set if every answer shows its end: a stream by its last event (`[DONE]`, `message_stop`, `response.completed`), an
   * answer in one piece by the reason. Otherwise it is incomplete.
   */
  readonly endsStreams?: true;
  /** The beginning of the runtime's error when it must be restarted before it can answer again. */
  readonly deadError?: string;
}

/**
 * The answers that a runtime stops when the gateway closes their connection: all, only streams, or none. Other answers
 * are read completely and discarded, and keep their turn until then.
 */
export type Cancellation = 'always' | 'streams' | 'never';

/** A placement behind an API gateway. */
export interface GatewayUpstream extends RuntimeApi {
  readonly placement: string;
  /** The paths of meshwright's own requests, which need the secret of the node; absent: none. */
  readonly ownPaths?: readonly string[];
  /** The model name that clients send. */
  readonly servedName: string;
  /** TCP port of the runtime on 127.0.0.1. */
  readonly port: number;
  /** The `model` that the runtime expects; an unknown name makes some runtimes load a different model. */
  readonly model: string;
  readonly cancels: Cancellation;
  /** Maximum number of requests that the runtime answers in parallel; further requests wait their turn. */
  readonly maxRequests: number;
}

/** Another replica of a placement, which clients of this gateway can use through it. */
export interface GatewayReplica {
  readonly placement: string;
  /** The name or address of its node in the file. */
  readonly host: string;
  /** TCP port of its gateway. */
  readonly port: number;
}

/** A gateway's settings: address and version from its arguments, the others from its file. All paths are absolute. */
export interface GatewayConfig {
  readonly listen: { readonly address: string; readonly port: number };
  /** The version of the gateway's files, as the process has read them; files on disk can be newer. */
  readonly version?: string;
  readonly upstreams: readonly GatewayUpstream[];
  /** Folder with one file per placement: its {@link GatewayKeys} as JSON. Changed files are read again. */
  readonly keysFolder: string;
  /** Folder with one file per closed placement, named after the placement; the file's first line is the reason. */
  readonly closedFolder: string;
  /** Folder with one file per replica: the other replicas as a JSON list of {@link GatewayReplica}, read like keys. */
  readonly replicasFolder?: string;
  /** The file with the secret of the node, as a line for curl's `-H @FILE`; without it, nothing answers the node itself. */
  readonly ownFile?: string;
  /** Addresses of proxies, which are exempt from the limit on connections from one address. */
  readonly proxies: readonly string[];
  /** The file with the counts from earlier runs. */
  readonly countsFile: string;
}

/** A placement's accepted keys, each as a hash of {@link gatewayKeyDomain} followed by the key. */
export interface GatewayKeys {
  readonly keys: readonly Digest[] | 'anybody';
}

/** The header with the secret of the node. */
export const ownHeader = 'meshwright-own';

/** The prefix of a key when it is hashed, so that the hash is useless anywhere else. */
export const gatewayKeyDomain = 'meshwright gateway\0';

/** A running gateway's report on its port; `silent`: there was no readable answer, so the counts are unknown. */
export type GatewayStatus = FactsGateways[number];

/** A gateway's report about one placement; it never contains text from prompts or answers. */
export type EndpointStatus = FactsEndpoint;

/** A gateway's counts for one placement. Tokens are from the runtime's `usage`, otherwise counted pieces of text. */
export type GatewayCounts = EndpointStatus['counts'];

/**
 * A runtime's current requests, and how long it has been silent. A busy mesh is silent while it reads a prompt. For a
 * request that is not streamed, the mesh is silent until the whole answer is ready.
 */
export type EndpointTraffic = Omit<EndpointStatus, 'placement' | 'closed' | 'counts'>;
