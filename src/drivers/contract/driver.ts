import type { DriverKeys } from '../../desired/rules/rule.ts';
import type { Severity } from '../../diagnostics/code-entry.ts';
import type { GeneralCode } from '../../diagnostics/diagnose.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import type { Digest, Json } from '../../model/digest.ts';
import type { GoldenCheck, StartDialogue, StopDialogue } from '../../model/endpoint-calls.ts';
import type { ForeignDaemon } from '../../model/facts/daemons.ts';
import type { ObservedTree } from '../../model/facts/fact-values.ts';
import type { RankNeed } from '../../model/fit.ts';
import type { Cancellation, RuntimeApi } from '../../model/gateway.ts';
import type { Known } from '../../model/known.ts';
import type { ModelShape } from '../../model/model-shape.ts';
import type { LinkEnd, NodeName } from '../../model/node.ts';
import type { GpuQuestion } from '../../model/node-script.ts';
import type { NodePath } from '../../model/probe.ts';
import type { Text } from '../../model/step.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { CabledFleet } from './addresses.ts';
import type { DriverMemory } from './memory.ts';
import type { RankSplit, SplitJudgement } from './split.ts';

/** One request of a dialogue. A node sends it to its own loopback address. */
export interface TalkRequest {
  readonly node: NodeName;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly port: number;
  /** With its leading slash and its query. */
  readonly path: string;
  /** JSON as text. */
  readonly body?: string;
  /** Timeout in milliseconds; absent: the usual one. */
  readonly limitMs?: number;
}

/** The response to a request of a dialogue. */
export interface Heard {
  /** 0 if there was no response. */
  readonly status: number;
  /** Set if the request may not have been sent, because the node was unreachable or its output was cut off. */
  readonly isUnasked?: true;
  /** Set if the connection was refused, because nothing listens at the port. */
  readonly isRefused?: true;
  readonly body: string;
  /** Time in milliseconds since the dialogue began. */
  readonly atMs: number;
}

/** The next request of a dialogue, and how to continue from its response. */
export interface Asking {
  readonly kind: 'ask';
  readonly request: TalkRequest;
  /** Milliseconds to wait before the request. */
  readonly afterMs: number;
  /** Progress in a few words. */
  readonly about: string;
  readonly hear: (heard: Heard) => Talk;
}

/** The state of a dialogue. It is pure: the caller sends the requests and passes in the responses. */
export type Talk =
  | Asking
  | { readonly kind: 'done'; readonly note: string }
  | { readonly kind: 'failed'; readonly code: GeneralCode; readonly reason: string; readonly hint?: Prose };

/** Row r, column c has the value of rank r towards rank c; null on the diagonal and for pairs without a cable. */
export type RankMatrix = readonly (readonly (string | null)[])[];

/** One rank of a placement, with all values for its command line and its files. */
export interface RankPlace<R extends DesiredRuntime = DesiredRuntime> {
  readonly placement: DesiredPlacement;
  readonly runtime: R;
  readonly model: DesiredModel;
  /** The placement's drafter; absent if it has none. */
  readonly drafter?: { readonly model: DesiredModel; readonly folder: NodePath };
  readonly node: NodeName;
  readonly rank: number;
  /** The rank's account; empty for the SSH user. */
  readonly account: string;
  readonly generation: number;
  /** TCP port where the ranks of this generation meet. */
  readonly port: number;
  /** TCP port where the runtime's own HTTP server listens on the leader. */
  readonly endpointPort: number;
  /** Each rank's address on the cable from the previous rank, in rank order; 127.0.0.1 for a single rank. */
  readonly addresses: readonly string[];
  /** Addresses on cables. */
  readonly between: RankMatrix;
  /** RDMA devices of the cables, such as `rdma_en5`. The digest uses stable names instead, such as `receptacle-3`. */
  readonly devices: RankMatrix;
  /** RDMA devices of every cable between two ranks, in the same cable order on both sides; empty on the diagonal. */
  readonly cables: readonly (readonly (readonly string[])[])[];
  /** Each rank's office network address; null if unobserved. For the digest, `lan-<rank>` is used instead. */
  readonly lan: readonly (string | null)[];
  /** Each node's SSH host name from the file, in rank order. */
  readonly hosts: readonly string[];
  /** Folders of exactly this version of the runtime and of the model. */
  readonly runtimeFolder: NodePath;
  readonly modelFolder: NodePath;
  /** Folder of this rank's {@link RankCommand.files} on its node. */
  readonly filesFolder: NodePath;
  /** The native probe for the node as Base64; absent if this computer has none. */
  readonly nativeProgram?: string;
}

/** A file of one rank, written to its node before any rank starts. */
export type RankFile =
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly content: Text;
      /** True if the rank runs the same without the file. Then its content is not part of the placement's digest. */
      readonly isOptional?: true;
    }
  | { readonly kind: 'link'; readonly name: string; readonly to: NodePath }
  /** Owned by the rank's account. Emptied before each start unless `keeps` is set. */
  | { readonly kind: 'folder'; readonly name: string; readonly keeps: boolean }
  /** The folder in which {@link RankCommand.prepare} has run. */
  | { readonly kind: 'prepared'; readonly name: string };

/** A command that a node runs once as the rank's account before the rank starts, and again only for a different key. */
export interface RankPreparation {
  readonly key: Digest;
  /** The name of its folder among the rank's files. */
  readonly name: string;
  readonly argv: readonly Text[];
  readonly env: Readonly<Record<string, EnvValue>>;
}

/** A value of the environment. Node paths in it are rendered with the node's root prefix. */
export type EnvValue = string | NodePath | Text;

/** The settings to start one rank and to detect that it has joined. */
export interface RankCommand {
  /** One entry per argument; no shell reads them. */
  readonly argv: readonly Text[];
  readonly env: Readonly<Record<string, EnvValue>>;
  readonly files: readonly RankFile[];
  readonly prepare?: RankPreparation;
  /** TCP port where a rank listens once it has joined; 0 if a running process is enough. */
  readonly joinedPort: number;
  /** TCP port where a rank listens before it has joined; 0 if there is none. */
  readonly meetPort: number;
  /** Number of queue pairs and protection domains per RDMA device in use (default 1). */
  readonly takesOfDevice?: number;
}

/** A request for which the endpoint generates one token. */
export interface TokenRequest {
  /** With its leading slash. */
  readonly path: string;
  readonly body: Readonly<Record<string, Json>>;
  /** JSON pointer of the text in the response. */
  readonly pointer: string;
  /** JSON pointer to the number of generated tokens, set only if the runtime's source shows that it counts them. */
  readonly countPointer?: string;
}

/** One wave of a start. Its ranks start in parallel; the next wave follows when all of them have reached `until`. */
export interface StartWave {
  readonly ranks: 'leader' | 'followers' | 'all';
  readonly until: 'meeting' | 'joined';
}

export const leaderFirst: readonly StartWave[] = [
  { ranks: 'leader', until: 'joined' },
  { ranks: 'followers', until: 'joined' },
];

/** For a single rank, the first wave is empty and is skipped. */
export const followersFirst: readonly StartWave[] = leaderFirst.toReversed();

/** The followers start when the leader listens for them, before it has joined. */
export const leaderMeets: readonly StartWave[] = [
  { ranks: 'leader', until: 'meeting' },
  { ranks: 'followers', until: 'joined' },
];

export const together: readonly StartWave[] = [{ ranks: 'all', until: 'joined' }];

/**
 * The order in which a stop signals ranks: the leader first and the others after it has stopped, or all in parallel.
 * `together` is needed if a rank that lost its peer hangs in the kernel and ignores signals.
 */
export type StopOrder = 'leader-first' | 'together';

/** Names that a start reads from the last observation, because macOS may change them. */
type SeenName = 'devices' | 'lan';

/** The kind of action to take after a logged failure. */
export type FailureAction =
  | 'wait'
  | 'read-other-ranks'
  | 'restart'
  | 'apply'
  | 'change-file'
  | 'check-cable'
  | 'reboot'
  | 'report';

export interface FailureSignature {
  /** Unique within its driver: `rtr-errno-22`. */
  readonly id: string;
  /** Matched against single lines. */
  readonly pattern: RegExp;
  /** Where the message is printed, with the versions read or seen, and the issues that explain it. */
  readonly source: string;
  /** The cause, in one sentence. */
  readonly meaning: string;
  readonly action: FailureAction;
  /** The action to take, in one sentence. */
  readonly cure: Prose;
  /** Set if the message means that no answer came over a cable. If all addresses exist, the cable carries no data. */
  readonly isUnreached?: true;
  /** Set if the runtime's process stays after this message and refuses every request from then on. */
  readonly isFinal?: true;
}

/** Information about the mesh from a rank's log. */
export interface LoggedMesh {
  readonly transport?: 'rdma' | 'tcp';
  /** Number of ranks that have found each other. */
  readonly size?: number;
  /** Set if the runtime refused the drafter and serves without it. */
  readonly isWithoutDrafter?: true;
  /** Memory use of the rank and of its workers; absent if the log does not report it. */
  readonly held?: readonly HeldBytes[];
}

/** Bytes that a rank uses for a model, according to the log. */
export interface HeldBytes extends Pick<RankNeed, 'weights' | 'cache' | 'compute'> {
  /** Address of the worker; absent for the rank that wrote the log. */
  readonly address?: string;
}

/** All differences between runtimes in starting and checking a placement. Pure. */
export interface RuntimeDriver<R extends DesiredRuntime = DesiredRuntime> {
  readonly id: R['driver'];
  /** Keys of `runtimes` and `placements` that this driver needs or accepts. All accept keys that none lists. */
  readonly keys: DriverKeys<R>;
  configure(place: RankPlace<R>): RankCommand;
  /** Absent: ranks have equal parts of the model and do not cache earlier prompts. */
  readonly memory?: DriverMemory;
  /** The shape for the general tensor split check; absent if `check` includes it, or if only whole layers are split. */
  tensorShape?(runtime: R, model: DesiredModel): ModelShape | undefined;
  /** The runtime's own version, if the file sets it; absent: the file does not. */
  versionOf?(runtime: R): string;
  /** The versions to look up in the table of known pairs, by program or package; absent: none is known. */
  pairVersions?(runtime: R): Readonly<Record<string, string>>;
  /** The only GID index from which the runtime sends. Absent: it finds the IPv4-mapped GID at any index. */
  readonly sendsFromGid?: number;
  /** Whether the driver splits only by whole layers. */
  readonly splitsLayers?: true;
  /** Objections to a split, as in `check`. Absent: the only objection is tensors that do not divide. */
  judgeSplit?(split: RankSplit): SplitJudgement;
  /** Advice, as a sentence, for a model that cannot be split this way. Absent: the numbers of nodes that divide it. */
  splitAdvice?(split: RankSplit): string;
  /** True if a placement over RDMA can also start over TCP on the same cables, only because its transport is `tcp`. */
  readonly canUseTcp?: true;
  /** Names that must be observed before a rank can be configured; absent: none. */
  needs?(placement: DesiredPlacement, runtime: R): readonly SeenName[];
  tokenRequest(placement: DesiredPlacement, runtime: R, model: DesiredModel): TokenRequest;
  /** In start order; together the waves contain every rank exactly once. */
  waves(placement: DesiredPlacement, runtime: R): readonly StartWave[];
  /** Objections to a placement before its start. Memory is checked for all drivers in one place. */
  check?(one: PlacementCheck<R>): readonly PlacementFinding[];
  /** Archive paths of the programs that a start of these placements runs; absent: none. */
  programs?(runtime: R, users: readonly DesiredPlacement[]): readonly string[];
  /** Returns the program whose folder in the archive replaces `bin`; absent: the archive needs no such search. */
  binHas?(programs: readonly string[]): string | undefined;
  /** The key in the file that sets this program; absent: `program`. */
  programKey?(runtime: R, program: string): string;
  /** The program, if the file sets a path outside any archive. */
  programOutside?(runtime: R): NodePath | undefined;
  /** A command that shows whether one of our accounts can use the GPU; absent if the runtime has no such command. */
  gpuQuestion?(runtime: R, runtimeFolder: NodePath): GpuQuestion;
  /** Findings about ways in which clients can bypass the gateway while the runtime runs. */
  exposed?(placement: DesiredPlacement): readonly PlacementFinding[];
  /** The dialogue with the endpoint after all ranks have joined and before the first token. */
  dialogue?(placement: DesiredPlacement, runtime: R, model: DesiredModel, fleet: CabledFleet): StartDialogue;
  /**
   * The status of a request for a token while all ranks run but the runtime has dropped its instance of the placement.
   * Then the dialogue creates the instance again. Absent: the runtime never drops it.
   */
  readonly droppedStatus?: number;
  /** The dialogue with the leader before its ranks stop (graceful shutdown); absent: ranks only get a signal. */
  readonly gracefulShutdown?: StopDialogue['name'];
  /** Whether a second parallel request can crash the mesh; absent: the runtime queues it. */
  takesOneRequest?(placement: DesiredPlacement): boolean;
  /** The answers that the runtime stops when their client disconnects; absent: all. */
  cancels?(ranks: number): Cancellation;
  /** The golden answer check after every start. */
  goldenCheck(runtime: R): GoldenCheck;
  /** How its ranks communicate over these cables. Absent: only the transport says it. */
  backendOf?(placement: DesiredPlacement, between: RankMatrix): string;
  /** Whether one dead rank can be started again in the same generation while the others run. */
  canRestartOne(runtime: R): boolean;
  /** The ranks that read the model files; absent: all. Nodes of other ranks need no copy. */
  readonly modelReaders?: 'leader';
  readonly stopOrder: StopOrder;
  /** Milliseconds to wait after INT, if the program shuts down cleanly on INT; absent: a stop begins with TERM. */
  readonly interruptMs?: number;
  /** Milliseconds that a rank needs to shut down after TERM, if longer than the default. */
  readonly graceMs?: number;
  /** How the runtime answers clients; absent: unknown. @param vocabulary the model's number of tokens, if known */
  api?(vocabulary?: number): RuntimeApi;
  /** Log lines that an observation includes, as a POSIX extended regular expression for awk; empty: none. */
  readonly logPattern: string;
  /** Log lines with a client's request, which are never shown: an expression like `logPattern`. */
  readonly requestPattern?: string;
  readonly signatures: readonly FailureSignature[];
  /** Parses the lines that `logPattern` selected, oldest first. */
  observe(said: readonly string[]): LoggedMesh;
}

/** A Mac's facts for checks, passed in as values, because facts are defined in a higher layer. */
export interface CheckedMac {
  readonly trees: Known<readonly ObservedTree[]>;
  readonly foreignDaemons: Known<readonly ForeignDaemon[]>;
  readonly firewall: Known<'off' | 'on' | 'blocks-all'>;
  /** The version of macOS, such as `27.0`. */
  readonly macos: Known<string>;
}

export interface CheckedNode {
  readonly node: NodeName;
  /** Absent if the node was not observed; then only the file can be checked. */
  readonly mac?: CheckedMac | undefined;
}

/** All inputs for the check before a placement starts. */
export interface PlacementCheck<R extends DesiredRuntime = DesiredRuntime> {
  readonly placement: DesiredPlacement;
  readonly runtime: R;
  /** Includes its shape if known. */
  readonly model: DesiredModel;
  /** In rank order. */
  readonly nodes: readonly CheckedNode[];
  readonly fleet: DesiredFleet;
  /** Names observed on its nodes; absent without an observation. */
  readonly names?: SeenNames;
}

/** A finding about a placement before its start. An error prevents the start; other severities are only reported. */
export interface PlacementFinding {
  readonly code: GeneralCode;
  readonly severity: Severity;
  /** Full sentences. */
  readonly detail: string;
  /** Advice; absent: that of the code. */
  readonly hint?: Prose;
}

/** macOS names from the observation that a start is planned from; undefined if unobserved. */
export interface SeenNames {
  /** The RDMA device of a receptacle, such as `rdma_en5`. */
  readonly device: (end: LinkEnd) => string | undefined;
  /** The office network address of a node. */
  readonly lan: (node: NodeName) => string | undefined;
}

/** Names that survive restarts of a Mac, so that a placement's digest does not depend on macOS's names. */
export const lastingNames: SeenNames = {
  device: ({ receptacle }) => `receptacle-${receptacle}`,
  lan: (node) => `lan-${node}`,
};
