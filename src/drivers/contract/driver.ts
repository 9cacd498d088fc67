import type { DriverKeys } from '../../desired/rules/rule.ts';
import type { Severity } from '../../diagnostics/code-entry.ts';
import type { DiagnosticCode } from '../../diagnostics/diagnose.ts';
import type { DesiredFleet, DesiredModel, DesiredNode, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import type { Json } from '../../model/digest.ts';
import type { GoldenCheck, StartDialogue, StopDialogue } from '../../model/endpoint-calls.ts';
import type { ForeignDaemon } from '../../model/facts/daemons.ts';
import type { KeptTree } from '../../model/facts/fact-values.ts';
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

/** One request of a dialogue, made on a node to its own loopback address. */
export interface TalkRequest {
  readonly node: NodeName;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly port: number;
  /** With its leading slash, its query included. */
  readonly path: string;
  /** JSON as text. */
  readonly body?: string;
  /** How long it is waited for, in milliseconds; absent: as long as any. */
  readonly limitMs?: number;
}

/** What came back. */
export interface Heard {
  /** 0 when there was no answer at all. */
  readonly status: number;
  /** Set where nobody knows whether it was asked at all: its node was not reached, or the answer came back cut. */
  readonly isUnasked?: true;
  /** Set where nobody listens at its port: it was refused at once, whatever time that took. */
  readonly isRefused?: true;
  readonly body: string;
  /** Since the dialogue began, in milliseconds. */
  readonly atMs: number;
}

/** The next thing to ask, and what follows from each answer. */
export interface Asking {
  readonly kind: 'ask';
  readonly request: TalkRequest;
  /** How long to wait before it is asked. */
  readonly afterMs: number;
  /** How far it has come, in a few words. */
  readonly about: string;
  readonly hear: (heard: Heard) => Talk;
}

/**
 * Where a dialogue stands. It knows no clock and reaches nothing: somebody else asks, and hands over what was heard.
 */
export type Talk =
  | Asking
  | { readonly kind: 'done'; readonly note: string }
  | { readonly kind: 'failed'; readonly code: DiagnosticCode; readonly reason: string; readonly hint?: Prose };

/** One value for each pair of ranks: row r, column c is what rank r has towards rank c; null for itself and without a cable. */
export type RankMatrix = readonly (readonly (string | null)[])[];

/** One rank of a placement, with everything that its command line and its files may name. */
export interface RankPlace<R extends DesiredRuntime = DesiredRuntime> {
  readonly placement: DesiredPlacement;
  readonly runtime: R;
  readonly model: DesiredModel;
  readonly node: NodeName;
  readonly rank: number;
  readonly generation: number;
  /** TCP port on which the ranks of this generation meet. */
  readonly port: number;
  /** TCP port on which the runtime's own HTTP server listens on the leader. */
  readonly endpointPort: number;
  /** The address of each rank on the cable from the rank before it, in rank order; 127.0.0.1 for a single rank. */
  readonly addresses: readonly string[];
  /** Addresses on cables. */
  readonly between: RankMatrix;
  /** RDMA devices on cables, such as `rdma_en5`; in the run that makes the digest, which macOS may not change, `receptacle-3`. */
  readonly devices: RankMatrix;
  /** The same of every cable between two ranks, the n-th from one of them being the n-th from the other one; none towards itself. */
  readonly cables: readonly (readonly (readonly string[])[])[];
  /** The address of each rank in the office network; in the run that makes the digest `lan-<rank>`. Null where nobody could see it. */
  readonly lan: readonly (string | null)[];
  /** Folders of this very version of the runtime, and of the model. */
  readonly runtimeFolder: NodePath;
  readonly modelFolder: NodePath;
  /** Where {@link RankCommand.files} of this rank lie on its node. */
  readonly filesFolder: NodePath;
}

/** A file of one rank, on its node before any rank is started. */
export type RankFile =
  | { readonly kind: 'file'; readonly name: string; readonly content: Text }
  | { readonly kind: 'link'; readonly name: string; readonly to: NodePath }
  /** Belongs to whoever the rank runs as; empty whenever it is made ready, unless it keeps what is in it. */
  | { readonly kind: 'folder'; readonly name: string; readonly keeps: boolean };

/** A value of the environment; paths of the node in it are rendered with its root prefix. */
export type EnvValue = string | NodePath | Text;

/** How one rank is started and seen to have joined. */
export interface RankCommand {
  /** Word by word; no shell reads it. */
  readonly argv: readonly Text[];
  readonly env: Readonly<Record<string, EnvValue>>;
  readonly files: readonly RankFile[];
  /** TCP port on which a rank that has joined listens; 0 where a process is enough. */
  readonly joinedPort: number;
  /** TCP port on which a rank listens before it has joined; 0 where there is none. */
  readonly meetPort: number;
  /** How many queue pairs and protection domains it takes of each RDMA device that it uses; one when absent. */
  readonly takesOfDevice?: number;
}

/** A request that makes the endpoint give one token. */
export interface TokenRequest {
  /** From the root. */
  readonly path: string;
  readonly body: Json;
  /** JSON pointer of the text in the answer. */
  readonly pointer: string;
  /**
   * JSON pointer of the count of generated tokens, only where the source of the runtime shows that it counts what it
   * really generated.
   */
  readonly countPointer?: string;
}

/** A wave of a start: these ranks at once, and the next wave when all of them are seen so. */
export interface StartPhase {
  readonly ranks: 'leader' | 'followers' | 'all';
  readonly until: 'meeting' | 'joined';
}

/**
 * Whom a stop signals first: the leader, the others once its stop has ended, or all of them at once, where a rank that
 * has lost its peer waits in the kernel and takes no signal any more.
 */
export type StopOrder = 'leader-first' | 'together';

/** What a start takes from the last observation, since macOS may name it otherwise tomorrow. */
type SeenName = 'devices' | 'lan';

/** What to do about a failure that a log tells of. */
export type FailureAction =
  | 'wait'
  | 'read-other-ranks'
  | 'restart'
  | 'apply'
  | 'change-file'
  | 'check-cable'
  | 'reboot'
  | 'report';

/** A line of a log that means something. */
export interface FailureSignature {
  /** Unique within its driver: `rtr-errno-22`. */
  readonly id: string;
  /** Of one line. */
  readonly pattern: RegExp;
  /** One sentence. */
  readonly meaning: string;
  readonly action: FailureAction;
  /** One sentence: what to do. */
  readonly cure: Prose;
  /** The peer gave no answer at its address on a cable: where that cable and both addresses are there, it carries nothing. */
  readonly isUnreached?: true;
}

/** What the log of a rank shows of a mesh. */
export interface RuntimeSight {
  readonly transport?: 'rdma' | 'tcp';
  /** How many ranks have found each other. */
  readonly size?: number;
  /** What it holds of the model, and what its workers hold; absent where it does not say it. */
  readonly held?: readonly HeldBytes[];
}

/** What a rank holds of a model, as a log counts it. */
export interface HeldBytes {
  /** Where the worker listens; absent for the rank whose log this is. */
  readonly address?: string;
  readonly weights: number;
  readonly cache: number;
  readonly compute: number;
}

/** The part of starting and judging a placement that differs from runtime to runtime. Pure. */
export interface RuntimeDriver<R extends DesiredRuntime = DesiredRuntime> {
  readonly id: R['driver'];
  /** The keys of `runtimes` and `placements` that it needs or takes; a key that no driver names is for all. */
  readonly keys: DriverKeys<R>;
  configure(place: RankPlace<R>): RankCommand;
  /** Absent: it holds equal parts, and nothing of earlier prompts. */
  readonly memory?: DriverMemory;
  /**
   * The shape by which splitting by tensors is judged as for most. Absent: `check` judges it, as that of mlx does, or the
   * runtime splits no tensors: llama.cpp divides whole layers.
   */
  tensorShape?(runtime: R, model: DesiredModel): ModelShape | undefined;
  /** Whether it divides whole layers and no tensors. */
  readonly splitsLayers?: true;
  /** What speaks against a split, as `check` would find it; absent: tensors that do not divide. */
  judgeSplit?(split: RankSplit): SplitJudgement;
  /** What to do about a model that cannot be split so, as a sentence; absent: the numbers of nodes that divide its tensors. */
  splitAdvice?(split: RankSplit): string;
  /** What must have been seen before a rank can be configured. */
  needs(placement: DesiredPlacement, runtime: R): readonly SeenName[];
  tokenRequest(placement: DesiredPlacement, runtime: R, model: DesiredModel): TokenRequest;
  /** In order; together they have every rank once. */
  phases(placement: DesiredPlacement, runtime: R): readonly StartPhase[];
  /** What speaks against a placement before it is started; memory is judged for all drivers alike. */
  check?(one: PlacementCheck<R>): readonly PlacementFinding[];
  /** The programs that a start calls by their paths in the archive, for these placements; absent: none. */
  programs?(runtime: R, users: readonly DesiredPlacement[]): readonly string[];
  /** Of these programs the one by which the folder of the archive is found that stands for `bin`; absent: no folder does. */
  binHas?(programs: readonly string[]): string | undefined;
  /** The key of the file that names one of them; absent: `program`. */
  programKey?(runtime: R, program: string): string;
  /** Its program, where the file names one that no archive brings. */
  programOutside?(runtime: R): NodePath | undefined;
  /** The command by which an account of ours shows that it reaches the GPU; absent where the runtime has none. */
  gpuQuestion?(runtime: R, runtimeFolder: NodePath): GpuQuestion;
  /** How clients reach the runtime past its gateway, as long as it runs. */
  exposed?(placement: DesiredPlacement): readonly PlacementFinding[];
  /** What has to be talked over with the endpoint when all ranks have joined, before it is asked for a token. */
  dialogue?(placement: DesiredPlacement, runtime: R, model: DesiredModel, fleet: CabledFleet): StartDialogue;
  /** What is talked over with the leader before its ranks are stopped; absent where they are just told to end. */
  readonly farewell?: StopDialogue['name'];
  /** Whether a second request at the same time can end the mesh; absent where the runtime has it wait. */
  takesOneRequest?(placement: DesiredPlacement): boolean;
  /** Which ranks can be told to give an answer up: `alone` is a rank without others; absent: all. */
  readonly cancels?: 'alone';
  /** What the golden answer must be after every start. */
  goldenCheck(runtime: R): GoldenCheck;
  /** Whether a dead member may be started again beside those that run, in their generation. */
  canRestartOne(runtime: R): boolean;
  /** Which ranks read the files of the model; absent: all of them. Nodes of the others need no copy. */
  readonly modelReaders?: 'leader';
  readonly stopOrder: StopOrder;
  /** How long a rank is waited for after INT, where its program takes that for an orderly end; absent: TERM comes first. */
  readonly interruptMs?: number;
  /** How long a rank needs to end in order after TERM, where that is longer than usual. */
  readonly graceMs?: number;
  /** Fields of a request of a client by which the runtime would load something else than the model of the placement. */
  readonly refusedFields?: readonly string[];
  /** Which lines of the log an observation brings along: an extended regular expression (POSIX) for awk; empty for none. */
  readonly logPattern: string;
  /** Which lines of a log hold a request of a client and are shown to nobody: an expression as the one above; absent: none. */
  readonly requestPattern?: string;
  readonly signatures: readonly FailureSignature[];
  /** What those lines show, oldest first. */
  observe(said: readonly string[]): RuntimeSight;
}

/** What checks ask of a Mac. Facts are defined above the drivers, so their values are handed in. */
export interface CheckedMac {
  readonly trees: Known<readonly KeptTree[]>;
  readonly foreignDaemons: Known<readonly ForeignDaemon[]>;
  readonly firewall: Known<'off' | 'on' | 'blocks-all'>;
}

/** One node of a placement that is checked. */
export interface CheckedNode {
  readonly node: NodeName;
  readonly desired?: DesiredNode;
  /** Absent for a node that was not observed: then only the file can be checked. */
  readonly mac?: CheckedMac | undefined;
}

/** A placement before anything of it is started, with all that speaks for or against it. */
export interface PlacementCheck<R extends DesiredRuntime = DesiredRuntime> {
  readonly placement: DesiredPlacement;
  readonly runtime: R;
  /** With its shape, where that is known. */
  readonly model: DesiredModel;
  /** In rank order. */
  readonly nodes: readonly CheckedNode[];
  readonly fleet: DesiredFleet;
  /** What was seen of its nodes; absent where nobody looked. */
  readonly names?: SeenNames;
}

/** What speaks against a placement: an error keeps it from being started, the rest is told. */
export interface PlacementFinding {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** Full sentences. */
  readonly detail: string;
  /** What to do; that of the code when absent. */
  readonly hint?: Prose;
}

/** What macOS calls things in the observation that a start is planned from; undefined where nobody could see it. */
export interface SeenNames {
  /** The RDMA device of a receptacle, such as `rdma_en5`. */
  readonly device: (end: LinkEnd) => string | undefined;
  /** The address of a node in the office network. */
  readonly lan: (node: NodeName) => string | undefined;
}

/** Names that are the same after every restart of a Mac: what a placement is does not change with them. */
export const lastingNames: SeenNames = {
  device: ({ receptacle }) => `receptacle-${receptacle}`,
  lan: (node) => `lan-${node}`,
};
