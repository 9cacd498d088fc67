// Generated from schemas/*.schema.json by `npm run generate`; never edited by hand.

/**
 * What `meshwright ask --json` prints: the answer of a placement.
 */
export interface AskDocument {
  readonly formatVersion: 1;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  readonly placement: string;
  /**
   * Its leader.
   */
  readonly node: string;
  /**
   * Absent when there is none.
   */
  readonly answer?: string;
  /**
   * What the model thought aloud before its answer; absent when it did not.
   */
  readonly thought?: string;
  /**
   * Why there is no answer.
   */
  readonly diagnostics: (readonly AskDiagnostic[]);
}
/**
 * One problem with its one cause and what to do.
 */
export interface AskDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly AskDiagnostic[]);
}

/**
 * What `meshwright bench --json` prints: how fast a placement answers. Speeds are tokens per second.
 */
export interface BenchDocument {
  readonly formatVersion: 1;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  readonly placement: string;
  readonly model: string;
  readonly runtime: string;
  readonly transport: 'rdma' | 'tcp';
  /**
   * In rank order; the first one was asked.
   */
  readonly nodes: (readonly string[]);
  readonly question: {
    /**
     * Of each question, about.
     */
    readonly words: number;
    /**
     * Of each answer, at most.
     */
    readonly maxTokens: number;
  };
  /**
   * Of each level.
   */
  readonly runs: number;
  /**
   * The levels that were asked for.
   */
  readonly requests: (readonly number[]);
  /**
   * What a token is here: runtimes that count none leave only the pieces of their stream.
   */
  readonly tokensAre: 'counted-by-runtime' | 'pieces-of-text';
  /**
   * What was measured, fewer than asked for when it was cut off; medians over the runs. What nobody can tell is absent. Null when nothing was measured.
   */
  readonly levels: (readonly BenchLevel[]) | null;
  /**
   * What others have published for this model on as many Macs.
   */
  readonly published: (readonly BenchPublished[]);
  /**
   * Requests that came to nothing, and what could not be measured.
   */
  readonly diagnostics: (readonly BenchDiagnostic[]);
}
export interface BenchLevel {
  /**
   * So many at once.
   */
  readonly requests: number;
  readonly answered: number;
  readonly failed: number;
  /**
   * From the beginning of a request to the first piece of its answer.
   */
  readonly firstTokenMs?: number;
  /**
   * Of one request: reading the question.
   */
  readonly promptSpeed?: number;
  /**
   * Of one request: writing the answer.
   */
  readonly generationSpeed?: number;
  /**
   * Tokens of all requests over the time from the first beginning to the last end.
   */
  readonly totalSpeed?: number;
  /**
   * Of CPU, GPU and Neural Engine of all Macs of the placement together, by powermetrics.
   */
  readonly watts?: number;
  readonly tokensPerJoule?: number;
}
export interface BenchPublished {
  /**
   * As it was published.
   */
  readonly model: string;
  readonly nodes: number;
  readonly runtime: string;
  readonly transport: 'rdma' | 'tcp' | 'one node';
  readonly generationSpeed: number;
  readonly promptSpeed?: number;
  readonly hardware: string;
  /**
   * Where it was published.
   */
  readonly source: string;
}
/**
 * One problem with its one cause and what to do.
 */
export interface BenchDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly BenchDiagnostic[]);
}

/**
 * What `meshwright cables --json` prints: declared and seen cables, and what hands have to do about them.
 */
export interface CablesDocument {
  readonly formatVersion: 1;
  /**
   * The name of the cluster file.
   */
  readonly cluster: string;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * Every declared link and every cable that is seen, sorted by their ends.
   */
  readonly cables: (readonly CablesCable[]);
  /**
   * The receptacles of every node by its name; null for one that was not seen.
   */
  readonly nodes: {
    readonly [k: string]: (readonly CablesReceptacle[]) | null;
  };
  /**
   * What hands have to do, in order.
   */
  readonly moves: (readonly CablesMove[]);
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * Rings of bridged Macs first, then what no move puts right, and why nodes could not be looked at.
   */
  readonly diagnostics: (readonly CablesDiagnostic[]);
}
/**
 * One cable, declared, seen, or both.
 */
export interface CablesCable {
  /**
   * Its two receptacles, such as studio-1:2.
   */
  readonly ends: (readonly string[]);
  /**
   * Whether the file declares it.
   */
  readonly declared: boolean;
  /**
   * Whether anything is seen of it.
   */
  readonly seen: boolean;
  /**
   * How it is.
   */
  readonly state: 'as-declared' | 'slow' | 'through-hub' | 'one-sided' | 'missing' | 'wrong' | 'undeclared' | 'unknown';
  /**
   * Its speed; absent when nobody knows.
   */
  readonly bitsPerSecond?: number;
  /**
   * The numbers of the moves that touch it.
   */
  readonly moves: (readonly number[]);
}
/**
 * One receptacle.
 */
export interface CablesReceptacle {
  /**
   * As macOS numbers it.
   */
  readonly receptacle: number;
  /**
   * Where it is on the case; absent when nobody knows.
   */
  readonly place?: string;
  /**
   * What it shows beside what the file says.
   */
  readonly sight: string;
  /**
   * What is seen there, in words.
   */
  readonly sees: string;
}
/**
 * One act of hands.
 */
export interface CablesMove {
  readonly number: number;
  /**
   * Such as move-end, add-cable or remove-cable.
   */
  readonly kind: string;
  /**
   * In plain words.
   */
  readonly text: string;
  /**
   * Placements that use a cable which it takes out: to be stopped first.
   */
  readonly stopFirst: (readonly string[]);
  /**
   * What has to be done about bridges first; absent when nothing.
   */
  readonly bridgesFirst?: string;
  /**
   * Whether nothing stands before it.
   */
  readonly free: boolean;
}
/**
 * One problem with its one cause and what to do.
 */
export interface CablesDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly CablesDiagnostic[]);
}

/**
 * What `meshwright validate --json` prints: every problem of a file, sorted by place.
 */
export interface DiagnosticsDocument {
  /**
   * The problems; an empty list means that the file is right.
   */
  readonly diagnostics: (readonly DiagnosticsDiagnostic[]);
}
/**
 * One problem.
 */
export interface DiagnosticsDiagnostic {
  /**
   * area/slug, never reused; each is explained in docs/errors.md.
   */
  readonly code: string;
  /**
   * An error stops the run, a warning does not, a notice is only worth knowing.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code, without user data.
   */
  readonly summary: string;
  /**
   * What, then why.
   */
  readonly detail: string;
  /**
   * What to do now.
   */
  readonly hint: string;
  /**
   * The place; absent when the problem is not in a file.
   */
  readonly where?: {
    /**
     * The file as it was given.
     */
    readonly file: string;
    /**
     * From 1.
     */
    readonly line: number;
    /**
     * From 1, in UTF-16 code units.
     */
    readonly column: number;
  };
  /**
   * What it is about, such as `node studio-3`.
   */
  readonly subject?: string;
  /**
   * Other places that belong to it, such as the first of two equal links.
   */
  readonly related?: (readonly DiagnosticsDiagnostic[]);
}

/**
 * What `meshwright doctor --json` prints: every broken thing with its one cause, its one action and the facts that show it, in the order in which to see to them.
 */
export interface DoctorDocument {
  readonly formatVersion: 1;
  /**
   * The name of the cluster file.
   */
  readonly cluster: string;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * Nodes of the file that this run did not ask.
   */
  readonly notAsked: (readonly string[]);
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * In the order of the walk.
   */
  readonly troubles: (readonly DoctorTrouble[]);
  readonly recovery?: DoctorVisits;
  readonly systemSettings?: DoctorVisits1;
  /**
   * By node, where starts over RDMA can come.
   */
  readonly launches: {
    readonly [k: string]: DoctorLaunches;
  };
}
/**
 * One broken thing: its cause and what to do, what shows it, what hangs on it.
 */
export interface DoctorTrouble {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1; placement a.
   */
  readonly subject?: string;
  readonly related?: (readonly DoctorFinding[]);
  /**
   * When to see to it; the order of the list is the order of the walk.
   */
  readonly stage: 'ring' | 'rdma-switch' | 'unlock' | 'bridges' | 'cables' | 'nodes' | 'told';
  /**
   * The facts that say so.
   */
  readonly evidence: (readonly DoctorEvidence[]);
  /**
   * What will be right as soon as this is, in words.
   */
  readonly hanging: (readonly string[]);
  /**
   * What to type, first things first, as the hint has it; empty where a person has to do it, or nobody. Commands that only look are in the hint alone. On a node where sudo is not allowed only exec is left: nothing else could change anything there.
   */
  readonly commands: (readonly string[]);
}
/**
 * One problem with its one cause and what to do.
 */
export interface DoctorFinding {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1; placement a.
   */
  readonly subject?: string;
  readonly related?: (readonly DoctorFinding[]);
}
/**
 * One fact of one node.
 */
export interface DoctorEvidence {
  readonly node: string;
  /**
   * Its name in `meshwright facts`.
   */
  readonly fact: string;
  /**
   * The command line on the node that said so.
   */
  readonly source: string;
  /**
   * What it said, in words.
   */
  readonly says: (readonly string[]);
}
/**
 * What a person does in Recovery to switch RDMA on, for all Macs at once; absent where no Mac needs it.
 */
export interface DoctorVisits {
  readonly nodes: (readonly string[]);
  /**
   * What to type and to press, in this order.
   */
  readonly steps: (readonly string[]);
}
/**
 * The same in System Settings, for Macs with macOS 27 or later; absent where no Mac needs it.
 */
export interface DoctorVisits1 {
  readonly nodes: (readonly string[]);
  /**
   * What to type and to press, in this order.
   */
  readonly steps: (readonly string[]);
}
/**
 * What starts over RDMA have taken of the RDMA devices of a node since its last boot.
 */
export interface DoctorLaunches {
  readonly starts: number;
  /**
   * As many as there may be.
   */
  readonly limit: number;
  /**
   * Whether the devices say no limits.
   */
  readonly assumed: boolean;
  /**
   * kernel: protection domains or queue pairs of the device that has the least left. starts: a count of starts, where the kernel could not be read.
   */
  readonly source: 'kernel' | 'starts';
}

/**
 * What `meshwright drift --json` prints: where nodes are not as the cluster file says.
 */
export interface DriftDocument {
  readonly formatVersion: 1;
  /**
   * The name of the cluster file.
   */
  readonly cluster: string;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * The nodes that answered.
   */
  readonly observed: (readonly string[]);
  /**
   * Changes that a run can make.
   */
  readonly changes: (readonly DriftChange[]);
  /**
   * What waits, and for what.
   */
  readonly waiting: (readonly DriftWaiting[]);
  /**
   * The work list, in order.
   */
  readonly blockers: (readonly DriftBlocker[]);
  /**
   * What the lock file has not got yet, one line each.
   */
  readonly lockAdditions: (readonly string[]);
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * What else is wrong, and why nodes could not be observed.
   */
  readonly diagnostics: (readonly DriftDiagnostic[]);
}
/**
 * One property that is not as it should be.
 */
export interface DriftChange {
  readonly node: string;
  /**
   * The property, such as power/sleep.
   */
  readonly resource: string;
  /**
   * What it is, in words.
   */
  readonly from: string;
  /**
   * What it will be.
   */
  readonly to: string;
  /**
   * Why: usually the key of the file.
   */
  readonly reason: string;
}
/**
 * Something that cannot be changed now.
 */
export interface DriftWaiting {
  readonly node: string;
  /**
   * The property, such as placement/kimi.
   */
  readonly resource: string;
  /**
   * What it waits for.
   */
  readonly for: (readonly string[]);
  /**
   * Whether any of that could not be seen.
   */
  readonly unknown: boolean;
}
/**
 * An entry of the work list.
 */
export interface DriftBlocker {
  /**
   * The code of docs/errors.md.
   */
  readonly code: string;
  readonly node: string;
  /**
   * What to do, whole.
   */
  readonly action: string;
  /**
   * Whether only hands at the rack can do it.
   */
  readonly hands: boolean;
}
/**
 * One problem with its one cause and what to do.
 */
export interface DriftDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly DriftDiagnostic[]);
}

/**
 * What `meshwright endpoints --json` prints: how clients reach placements. No key is in it.
 */
export interface EndpointsDocument {
  readonly formatVersion: 1;
  readonly cluster: string;
  readonly endpoints: (readonly {
    readonly placement: string;
    /**
     * Its leader.
     */
    readonly node: string;
    /**
     * Without a path.
     */
    readonly url: string;
    /**
     * What most clients want: with /v1.
     */
    readonly baseUrl: string;
    /**
     * What clients send as `model`.
     */
    readonly model: string;
    readonly contextTokens: number;
    /**
     * Present and true where this is how it is reached on its fallback, which another node leads.
     */
    readonly fallback?: true;
    /**
     * How the runtime is reached past the key, one sentence each; absent for none.
     */
    readonly exposed?: (readonly string[]);
    readonly access:
      | {
          readonly kind: 'key';
          /**
           * Where the key comes from, in words.
           */
          readonly source: string;
        }
      | {
          readonly kind: 'anybody';
        }
      | {
          readonly kind: 'tunnel';
          /**
           * Only its node reaches it: opens a tunnel there.
           */
          readonly command: string;
        };
  }[]);
}

/**
 * What `meshwright enroll --json` prints.
 */
export type EnrollDocument = (
  | {
      readonly lock: unknown;
      readonly nodes: unknown;
    }
  | {
      readonly cards: unknown;
    }
) & {
  /**
   * Grows when a reader of this form would misunderstand.
   */
  readonly formatVersion: 1;
  /**
   * There only when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * With --card, in place of the two below: what a person has to do at each Mac, from the file alone.
   */
  readonly cards?: (readonly EnrollCard[]);
  /**
   * Absolute path of the lock file that pins go into.
   */
  readonly lock?: string;
  /**
   * By node name, or by address when there is no file.
   */
  readonly nodes?: {
    readonly [k: string]: EnrollNode;
  };
};

export interface EnrollCard {
  /**
   * Name of the node.
   */
  readonly node: string;
  /**
   * Where the controller will reach it.
   */
  readonly host: string;
  /**
   * The account to create; absent when the file names none.
   */
  readonly user?: string;
  /**
   * What to do there, in this order.
   */
  readonly parts: (readonly {
    /**
     * A heading.
     */
    readonly title: string;
    /**
     * One sentence or more for each thing to do.
     */
    readonly steps: (readonly string[]);
  }[]);
  /**
   * What is then typed on the controller.
   */
  readonly commands: (readonly string[]);
}
export interface EnrollNode {
  /**
   * host, or [host]:port: the name of its pins.
   */
  readonly address: string;
  /**
   * The account; empty when it was not found out.
   */
  readonly user: string;
  /**
   * Type of the key that the node shows.
   */
  readonly type?: string;
  /**
   * As ssh-keygen -l prints it.
   */
  readonly fingerprint?: string;
  /**
   * What became of the pin; after the last three nothing was written.
   */
  readonly pin: 'kept' | 'added' | 'replaced' | 'declined' | 'refused' | 'unseen';
  /**
   * Absent when nobody tried; unknown when the node did not get as far as judging the key.
   */
  readonly login?: 'accepted' | 'refused' | 'unknown';
  /**
   * Absent when nobody could ask.
   */
  readonly sudo?: 'allowed' | 'refused' | 'unknown';
  /**
   * There when something was put on the node or found there on the way.
   */
  readonly installed?: {
    /**
     * The line of ~/.ssh/authorized_keys.
     */
    readonly key?: 'added' | 'kept';
    /**
     * The rule of /etc/sudoers.d/meshwright.
     */
    readonly rule?: 'added' | 'kept';
  };
  /**
   * Which Mac it is: written into the lock now, the one that it knows, written in place of another one, the wrong one, or not seen. Absent for an address, and when nobody logged in.
   */
  readonly mac?: 'added' | 'kept' | 'replaced' | 'wrong' | 'unseen';
  /**
   * What is missing; see diagnostics.schema.json.
   */
  readonly diagnostics: (readonly EnrollDiagnostic[]);
}
export interface EnrollDiagnostic {
  /**
   * area/slug.
   */
  readonly code: string;
  /**
   * How bad it is.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  /**
   * What happened.
   */
  readonly detail: string;
  /**
   * What to do.
   */
  readonly hint: string;
}

/**
 * How the command ended; only exited with code 0 is success.
 */
export type ExecExit =
  | {
      readonly kind: 'exited';
      readonly code: number;
    }
  | {
      readonly kind: 'signalled';
      readonly signal: string;
    }
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      /**
       * no-channel: nothing ran; closed: the run was interrupted.
       */
      readonly why?: 'dropped' | 'late' | 'too-long' | 'no-code' | 'no-channel' | 'closed';
    };

/**
 * What `meshwright exec --json` prints.
 */
export interface ExecDocument {
  /**
   * Grows when a reader of this form would misunderstand.
   */
  readonly formatVersion: 1;
  /**
   * There only when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * By node name, in the order of the file.
   */
  readonly nodes: {
    readonly [k: string]: ExecEnded | ExecUnreached;
  };
}
/**
 * The command was sent; its exit may still be unknown.
 */
export interface ExecEnded {
  readonly exit: ExecExit;
  /**
   * Bytes that are no UTF-8 stand as U+FFFD.
   */
  readonly stdout: string;
  /**
   * As stdout.
   */
  readonly stderr: string;
  /**
   * True when the output was cut; the command was then ended.
   */
  readonly truncated: boolean;
  /**
   * Why nobody knows how the command ended; absent when that is known.
   *
   * @minItems 1
   */
  readonly diagnostics?: (readonly ExecDiagnostic[]);
}
export interface ExecDiagnostic {
  /**
   * area/slug.
   */
  readonly code: string;
  /**
   * How bad it is.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  /**
   * What happened.
   */
  readonly detail: string;
  /**
   * What to do.
   */
  readonly hint: string;
}
/**
 * Nothing was sent to this node.
 */
export interface ExecUnreached {
  /**
   * Why; see diagnostics.schema.json.
   *
   * @minItems 1
   */
  readonly diagnostics: (readonly ExecDiagnostic[]);
}

/**
 * What `meshwright fit --json` prints.
 */
export type FitDocument = FitMeshAnswer | FitModelAnswer;

/**
 * With --mesh: how Macs of some models can be cabled.
 */
export interface FitMeshAnswer {
  readonly formatVersion: 1;
  /**
   * How many Macs were asked for.
   */
  readonly asked: number;
  /**
   * Whether all of them can be fully meshed.
   */
  readonly fits: boolean;
  /**
   * What is known of each model, in the order in which it was asked for.
   */
  readonly models: (readonly FitModel[]);
  readonly mesh?: FitShape;
  /**
   * How many Macs the largest full mesh has that leaves doubtful receptacles free; 0 when there is none.
   */
  readonly carefulSize: number;
  readonly ring?: FitShape1;
  /**
   * What speaks against models, or against receptacles that the mesh takes.
   */
  readonly diagnostics: (readonly FitDiagnostic[]);
}
/**
 * Macs of one model.
 */
export interface FitModel {
  /**
   * As hw.model prints it.
   */
  readonly model: string;
  /**
   * How many were asked for.
   */
  readonly count: number;
  /**
   * As people say it.
   */
  readonly name: string;
  /**
   * RDMA needs 5.
   */
  readonly thunderbolt: 4 | 5;
  /**
   * How many each has, numbered from 1.
   */
  readonly receptacles: number;
  /**
   * Of these the ones that are better left free.
   */
  readonly doubtful: (readonly number[]);
}
/**
 * The largest full mesh; absent when no two of the Macs can have RDMA.
 */
export interface FitShape {
  /**
   * How many Macs it joins.
   */
  readonly size: number;
  /**
   * Which Macs take part.
   */
  readonly macs: (readonly {
    readonly model: string;
    readonly count: number;
  }[]);
  /**
   * How many receptacles each of them needs.
   */
  readonly receptaclesEach: number;
  /**
   * How many cables.
   */
  readonly cables: number;
  /**
   * As thunderbolt.links has them, with made-up names of nodes.
   */
  readonly links: (readonly string[]);
  /**
   * The models with a cable in a doubtful receptacle.
   */
  readonly doubtfulModels: (readonly string[]);
}
/**
 * A ring of all that can have RDMA; absent when there are fewer than three.
 */
export interface FitShape1 {
  /**
   * How many Macs it joins.
   */
  readonly size: number;
  /**
   * Which Macs take part.
   */
  readonly macs: (readonly {
    readonly model: string;
    readonly count: number;
  }[]);
  /**
   * How many receptacles each of them needs.
   */
  readonly receptaclesEach: number;
  /**
   * How many cables.
   */
  readonly cables: number;
  /**
   * As thunderbolt.links has them, with made-up names of nodes.
   */
  readonly links: (readonly string[]);
  /**
   * The models with a cable in a doubtful receptacle.
   */
  readonly doubtfulModels: (readonly string[]);
}
/**
 * One problem with its one cause and what to do.
 */
export interface FitDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly FitDiagnostic[]);
}
/**
 * With a model: its memory on Macs.
 */
export interface FitModelAnswer {
  readonly formatVersion: 1;
  readonly model: string;
  readonly driver: 'command' | 'llamacpp-rpc' | 'mlx' | 'exo';
  /**
   * Absent on one Mac.
   */
  readonly sharding?: 'tensor' | 'pipeline';
  readonly contextTokens: number;
  /**
   * Requests that are answered at once.
   */
  readonly parallel: number;
  /**
   * Whether it can be started so.
   */
  readonly fits: boolean;
  /**
   * The worst of the nodes.
   */
  readonly verdict: 'fits' | 'near-degraded' | 'degraded' | 'tight' | 'does-not-fit';
  /**
   * Why it cannot be split over so many nodes, whatever the memory.
   */
  readonly problems: (readonly string[]);
  /**
   * Which Macs set the pace; absent where the Macs are equal or a model is unknown.
   */
  readonly pace?: string;
  /**
   * Why nobody knows whether it can be split over so many nodes.
   */
  readonly doubts: (readonly string[]);
  /**
   * Of mlx: the version of mlx-lm that it is judged for, and whether nobody said which it is.
   */
  readonly mlxLm?: {
    readonly version: string;
    readonly assumed: boolean;
  };
  /**
   * What to do instead; absent where nothing speaks against it.
   */
  readonly advice?: string;
  /**
   * In rank order.
   */
  readonly nodes: (readonly FitNodeMemory[]);
  /**
   * What the headers of its files say.
   */
  readonly shape: {
    readonly format: 'safetensors' | 'gguf';
    readonly architecture: string;
    readonly layers: number;
    readonly heads: number;
    readonly kvHeads: number;
    readonly weightBytes: number;
    /**
     * Whether its configuration names Python code of its own.
     */
    readonly hasOwnCode: boolean;
  };
}
/**
 * The memory of one node with all that is to serve on it, in bytes.
 */
export interface FitNodeMemory {
  readonly node: string;
  /**
   * All of it; null when unknown, as the next four.
   */
  readonly memory: number | null;
  /**
   * How much its GPU may use.
   */
  readonly budget: number | null;
  /**
   * desired: the file sets it; seen: the node has it; reported: by the log of a rank; assumed: usual for its size.
   */
  readonly budgetKind: 'desired' | 'seen' | 'reported' | 'assumed' | null;
  /**
   * Of all its placements whose need is known.
   */
  readonly need: number;
  /**
   * does-not-fit: more than the budget; tight: more than 90 % of it; degraded, near-degraded: more than 70 % or 60 % of the memory.
   */
  readonly verdict: 'fits' | 'near-degraded' | 'degraded' | 'tight' | 'does-not-fit' | null;
  /**
   * What each placement needs here: total is the most at any moment, since loading and caches never come together.
   */
  readonly placements: (readonly {
    readonly placement: string;
    readonly rank: number;
    readonly total: number;
    readonly weights: number;
    readonly cache: number;
    readonly compute: number;
    readonly promptCache: number;
    readonly loading: number;
    readonly process: number;
  }[]);
  /**
   * Placements on it whose need nobody knows.
   */
  readonly unknown: (readonly string[]);
}

/**
 * What `meshwright forget --json` prints.
 */
export interface ForgetDocument {
  readonly formatVersion: 1;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * The lock file.
   */
  readonly lock: string;
  /**
   * The nodes that it does not have any more.
   */
  readonly forgotten: (readonly string[]);
}

/**
 * A receptacle as node:receptacle.
 */
export type GraphEnd = string;

/**
 * What `meshwright graph --json` prints: what its drawing shows, every Mac with its receptacles, every declared and every seen cable, and what hands have to do.
 */
export interface GraphDocument {
  readonly formatVersion: 1;
  /**
   * The name of the cluster file.
   */
  readonly cluster: string;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * Present and true when only the file was read.
   */
  readonly declaredOnly?: true;
  /**
   * The nodes of the file, by name.
   */
  readonly nodes: (readonly GraphNode[]);
  /**
   * Every declared link and every cable that is seen, each pair of receptacles once, by their ends.
   */
  readonly cables: (readonly GraphCable[]);
  /**
   * Macs at the end of a cable that are no node, as far as anybody can say.
   */
  readonly strays: (readonly GraphStray[]);
  /**
   * What hands have to do, in this order.
   */
  readonly moves: (readonly {
    readonly number: number;
    /**
     * In the imperative.
     */
    readonly text: string;
    /**
     * What has to be done before it: a placement to stop, a bridge to remove; absent when nothing.
     */
    readonly first?: string;
  }[]);
  /**
   * The placements of the file; the state is absent where nobody looked.
   */
  readonly placements: (readonly {
    readonly name: string;
    readonly nodes: (readonly string[]);
    readonly state?: 'serving' | 'hung' | 'changed' | 'partial' | 'dead' | 'stopped' | 'not-placed' | 'unknown';
  }[]);
  /**
   * Warnings about the file, and why nodes could not be observed; see diagnostics.schema.json.
   */
  readonly diagnostics: (readonly {
    /**
     * area/slug.
     */
    readonly code: string;
    readonly severity: 'error' | 'warning' | 'notice';
    /**
     * Constant per code.
     */
    readonly summary: string;
    readonly detail: string;
    readonly hint: string;
  }[]);
}
export interface GraphNode {
  readonly name: string;
  /**
   * Whether its receptacles were looked at.
   */
  readonly seen: boolean;
  /**
   * Apple's model identifier, as seen, else as the file has it; absent when neither says it.
   */
  readonly model?: string;
  /**
   * By number; of a node that was not looked at those that its model should have.
   */
  readonly receptacles: (readonly {
    /**
     * As macOS numbers it.
     */
    readonly receptacle: number;
    /**
     * As in status.schema.json; where only the file was read, declared or free.
     */
    readonly sight:
      | 'as-declared'
      | 'slow'
      | 'through-hub'
      | 'one-sided'
      | 'wrong'
      | 'nothing'
      | 'undeclared'
      | 'foreign'
      | 'device'
      | 'silent'
      | 'empty'
      | 'unknown'
      | 'declared'
      | 'free';
    /**
     * Where on the case it is; absent when nobody knows.
     */
    readonly place?: string;
    /**
     * What is seen there, in words; absent where only the file was read.
     */
    readonly sees?: string;
  }[]);
}
export interface GraphCable {
  /**
   * @minItems 2
   * @maxItems 2
   */
  readonly ends: (readonly GraphEnd[]);
  /**
   * declared: in the file, nobody looked; missing: in the file, not seen where it should be; wrong: seen, in the place of a declared one; undeclared: seen, not in the file, in nobody's way.
   */
  readonly state:
    'declared' | 'as-declared' | 'slow' | 'through-hub' | 'one-sided' | 'missing' | 'wrong' | 'undeclared' | 'unknown';
  /**
   * Whether the file has it.
   */
  readonly declared: boolean;
  /**
   * Whether at least one of its ends sees the other.
   */
  readonly seen: boolean;
  /**
   * Speed of the cable; absent when macOS does not say it.
   */
  readonly bitsPerSecond?: number;
  /**
   * The numbers of the moves that touch it.
   */
  readonly moves: (readonly number[]);
}
export interface GraphStray {
  readonly at: GraphEnd;
  /**
   * foreign: certainly no node; unidentified: perhaps one that could not be looked at; ambiguous: two nodes claim to be it.
   */
  readonly kind: 'foreign' | 'unidentified' | 'ambiguous';
  /**
   * As it calls itself.
   */
  readonly model: string;
  readonly hubsBetween: number;
  /**
   * Whether the file declares another cable in that receptacle.
   */
  readonly inTheWay: boolean;
  /**
   * The numbers of the moves that touch its cable.
   */
  readonly moves: (readonly number[]);
}

/**
 * What `meshwright history --json` prints: every run that anybody remembers, newest first.
 */
export interface HistoryDocument {
  readonly formatVersion: 1;
  /**
   * The name of the cluster file.
   */
  readonly cluster: string;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * Newest first. Null when none is known and a node was not reached.
   */
  readonly runs: (readonly HistoryRun[]) | null;
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * Why nodes could not be asked.
   */
  readonly diagnostics: (readonly HistoryDiagnostic[]);
}
/**
 * One run of meshwright.
 */
export interface HistoryRun {
  /**
   * Its id.
   */
  readonly run: string;
  /**
   * ISO 8601, in UTC.
   */
  readonly at: string;
  /**
   * What was typed.
   */
  readonly verb: string;
  /**
   * user@host of the controller.
   */
  readonly by: string;
  /**
   * Who knows of it.
   */
  readonly from: (readonly ('journal' | 'node')[]);
  /**
   * False when it was killed or runs still; absent without a journal.
   */
  readonly ended?: boolean;
  /**
   * Present when a signal ended it.
   */
  readonly interrupted?: true;
  /**
   * From its first record to its last one; absent without a journal.
   */
  readonly ms?: number;
  /**
   * How many records of its journal are damaged or missing; absent when none are.
   */
  readonly damaged?: number;
  /**
   * The properties that it was to change, in the order of its plans; absent without a journal.
   */
  readonly changes?: (readonly HistoryChange[]);
  /**
   * In the order of time.
   */
  readonly steps: (readonly HistoryStep[]);
}
/**
 * One property of one node.
 */
export interface HistoryChange {
  readonly node: string;
  /**
   * Its address, such as power/sleep.
   */
  readonly resource: string;
  readonly from: string;
  readonly to: string;
  /**
   * By its steps; unknown in journals that do not say how many steps it takes.
   */
  readonly result: 'changed' | 'unchanged' | 'failed' | 'not finished' | 'not begun' | 'unknown';
  /**
   * From the begin of its first step to the end of its last one.
   */
  readonly ms?: number;
}
/**
 * One step on one node.
 */
export interface HistoryStep {
  readonly node: string;
  /**
   * Its id in the plan.
   */
  readonly step: string;
  /**
   * changed, unchanged, failed, unknown, interrupted, …
   */
  readonly result: string;
  /**
   * ISO 8601, in UTC.
   */
  readonly at: string;
}
/**
 * One problem with its one cause and what to do.
 */
export interface HistoryDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly HistoryDiagnostic[]);
}

/**
 * What `meshwright lease status --json` and `meshwright lease release --json` print.
 */
export interface LeaseDocument {
  readonly formatVersion: 1;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * The nodes that were asked, by name.
   */
  readonly nodes: {
    readonly [k: string]: LeaseLease;
  };
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * Why nodes could not be asked, or a lease not released.
   */
  readonly diagnostics: (readonly LeaseDiagnostic[]);
}
/**
 * The lease of one node.
 */
export interface LeaseLease {
  /**
   * Whether a run holds it; null when that is unknown.
   */
  readonly held?: boolean | null;
  /**
   * Why it is unknown.
   */
  readonly reason?: string;
  /**
   * The id of the run.
   */
  readonly run?: string;
  /**
   * user@host of its controller.
   */
  readonly owner?: string;
  /**
   * What was typed there.
   */
  readonly verb?: string;
  /**
   * What it was at when it last renewed.
   */
  readonly phase?: string;
  /**
   * ISO 8601, by the clock of its controller.
   */
  readonly since?: string;
  /**
   * Whether this command has released it.
   */
  readonly released?: boolean;
}
/**
 * One problem with its one cause and what to do.
 */
export interface LeaseDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly LeaseDiagnostic[]);
}

/**
 * What `meshwright logs --json` prints: the end of what ranks have printed.
 */
export interface LogsDocument {
  readonly formatVersion: 1;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * One entry for each rank whose log was read; null when none was and a node was not reached.
   */
  readonly ranks:
    | (readonly {
        readonly placement: string;
        readonly node: string;
        /**
         * The last lines, oldest first.
         */
        readonly lines: (readonly string[]);
      }[])
    | null;
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * Why a log could not be read.
   */
  readonly diagnostics: (readonly LogsDiagnostic[]);
}
/**
 * One problem with its one cause and what to do.
 */
export interface LogsDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly LogsDiagnostic[]);
}

/**
 * Name of a node.
 */
export type PlanNode = string;
/**
 * What is done.
 */
export type PlanAct =
  | {
      readonly kind: 'script';
      /**
       * Which one.
       */
      readonly name:
        | 'set-power'
        | 'set-hold'
        | 'clear-hold'
        | 'set-updates'
        | 'set-names'
        | 'check-account'
        | 'make-account'
        | 'remove-accounts'
        | 'set-clock'
        | 'set-screen-sharing'
        | 'stop-firewall'
        | 'stop-spotlight'
        | 'stop-backups'
        | 'stop-photos-analysis'
        | 'set-wired-limit'
        | 'remove-bridge'
        | 'set-link-address'
        | 'clear-link-address'
        | 'stop-daemon'
        | 'order-services'
        | 'load-keeper'
        | 'remove-keeper'
        | 'load-doorman'
        | 'remove-doorman'
        | 'drain-door'
        | 'open-door'
        | 'restore-network'
        | 'restore-value'
        | 'return-daemon'
        | 'clear-node'
        | 'withdraw-node'
        | 'settle-rollback'
        | 'prepare-staging'
        | 'publish-tree'
        | 'clear-staging'
        | 'switch-runtime'
        | 'remove-runtime-versions'
        | 'bootstrap-rank'
        | 'kick-rank'
        | 'stop-rank'
        | 'keep-golden'
        | 'remove-rank';
      /**
       * Its arguments.
       */
      readonly args: {};
    }
  | {
      readonly kind: 'transaction';
      /**
       * Which one.
       */
      readonly name: 'remove-bridge' | 'set-link-address' | 'clear-link-address' | 'order-services' | 'restore-network';
      /**
       * Its arguments.
       */
      readonly args: {};
    }
  | {
      readonly kind: 'put';
      readonly path: PlanPath;
      /**
       * Permissions as a number.
       */
      readonly mode: number;
      /**
       * Text in pieces; paths and the account that a run logs in with are filled in when it is sent.
       */
      readonly content: (readonly (
        | string
        | PlanPath
        | {
            readonly kind: 'login-user';
          }
      )[]);
    }
  | {
      readonly kind: 'send';
      /**
       * Where it lies here.
       */
      readonly source: string;
      readonly to: PlanPath;
      readonly sha256: PlanDigest;
      /**
       * How long it is.
       */
      readonly sizeBytes: number;
    }
  | {
      readonly kind: 'job';
      readonly key: PlanDigest;
      /**
       * Which one.
       */
      readonly name: 'unpack-runtime' | 'build-python' | 'fetch-model' | 'verify-model';
      /**
       * Its arguments.
       */
      readonly args: {};
    }
  | {
      readonly kind: 'gate';
      /**
       * What has to be seen.
       */
      readonly expect: (readonly PlanPatch[]);
      /**
       * What ends the wait at once.
       */
      readonly aborts: (readonly PlanPatch[]);
      /**
       * How long without any progress of a rank it is waited; with progress until the deadline of the step.
       */
      readonly patience?: {
        /**
         * Whose ranks.
         */
        readonly placement: string;
        /**
         * In milliseconds.
         */
        readonly stallMs: number;
      };
    }
  | {
      readonly kind: 'ask';
      /**
       * Which placement.
       */
      readonly placement: string;
      /**
       * What judges the answer.
       */
      readonly judge: 'token';
      /**
       * TCP port on 127.0.0.1 of the node.
       */
      readonly port: number;
      /**
       * Path of the request.
       */
      readonly path: string;
      /**
       * Its body.
       */
      readonly request: string;
      /**
       * JSON pointer of the text in the answer.
       */
      readonly pointer: string;
      /**
       * JSON pointer of the number of tokens that the runtime counted; absent where it counts none.
       */
      readonly countPointer?: string;
      /**
       * Whether a second request at the same time could end the mesh.
       */
      readonly isOne?: true;
      /**
       * How long without any progress of a rank it is waited; with progress until the deadline of the step.
       */
      readonly patience?: {
        /**
         * Whose ranks.
         */
        readonly placement: string;
        /**
         * In milliseconds.
         */
        readonly stallMs: number;
      };
    }
  | {
      readonly kind: 'prove';
      /**
       * Which placement.
       */
      readonly placement: string;
      /**
       * TCP port on 127.0.0.1 of the node.
       */
      readonly port: number;
      /**
       * Path of the requests.
       */
      readonly path: string;
      /**
       * JSON pointer of the text in the answers.
       */
      readonly pointer: string;
      /**
       * JSON pointer of the number of tokens that the runtime counted; absent where it counts none.
       */
      readonly countPointer?: string;
      /**
       * Whether a second request at the same time could end the mesh.
       */
      readonly isOne?: true;
      /**
       * The body of the request for one token.
       */
      readonly token: string;
      /**
       * The body of the golden question.
       */
      readonly question: string;
      /**
       * What the answer must be: equal to the first one, printable text, or anything.
       */
      readonly check: 'equal' | 'printable' | 'none';
      /**
       * Under which the answer is kept; absent where the macOS of a node was not seen: it is only compared then.
       */
      readonly key?: string;
      /**
       * The SHA-256 of the answer of the first start under this key.
       */
      readonly kept?: string;
      /**
       * Tokens in a second of the fastest start under this key; one that is much slower fails.
       */
      readonly keptPerSecond?: number;
      /**
       * What the file expects at least.
       */
      readonly tokensPerSecond?: number;
    }
  | {
      readonly kind: 'dialogue';
      /**
       * Which placement.
       */
      readonly placement: string;
      /**
       * Which conversation. exo-place: exo is made to place the model as declared.
       */
      readonly name: 'exo-place';
      /**
       * What it is about.
       */
      readonly args: {
        /**
         * In rank order.
         */
        readonly nodes: (readonly string[]);
        /**
         * TCP port of the API on 127.0.0.1 of each node.
         */
        readonly port: number;
        /**
         * The model as exo calls it.
         */
        readonly modelId: string;
        /**
         * How it is split.
         */
        readonly sharding: 'Tensor' | 'Pipeline';
        /**
         * How the nodes talk.
         */
        readonly meta: 'MlxJaccl' | 'MlxRing';
        /**
         * Weights that one node loads at most.
         */
        readonly bytesPerNode: number;
        /**
         * Over TCP: for each way between two nodes with a cable, the addresses on it. The ring has to use them.
         */
        readonly cables?: (readonly {
          /**
           * Which node connects.
           */
          readonly from: string;
          /**
           * Which node it connects to.
           */
          readonly to: string;
          /**
           * Of that node, on every cable between the two.
           */
          readonly addresses: (readonly string[]);
        }[]);
      };
    }
  | {
      readonly kind: 'dialogue';
      /**
       * Which placement.
       */
      readonly placement: string;
      /**
       * Which conversation. exo-farewell: exo is made to delete its instance and to end its runners.
       */
      readonly name: 'exo-farewell';
      /**
       * Whom it is held with.
       */
      readonly args: {
        /**
         * The node of the leader.
         */
        readonly node: string;
        /**
         * TCP port of the API on 127.0.0.1 of it.
         */
        readonly port: number;
      };
    }
  | {
      readonly kind: 'reboot';
      /**
       * What it is afterwards.
       */
      readonly to: 'up' | 'off';
      /**
       * A value that was seen, or why it was not.
       */
      readonly from:
        | {
            readonly kind: 'known';
            /**
             * The value.
             */
            readonly value: string;
          }
        | {
            readonly kind: 'unknown';
            /**
             * Why.
             */
            readonly reason: string;
            /**
             * In words.
             */
            readonly detail: string;
          };
    }
  | {
      readonly kind: 'hands';
      /**
       * The code of the blocker.
       */
      readonly code: string;
    };
/**
 * A SHA-256.
 */
export type PlanDigest = string;
/**
 * What a step disturbs; consent is given by kind.
 */
export type PlanEffect =
  | {
      readonly kind: 'none' | 'network' | 'reboot' | 'shutdown';
    }
  | {
      readonly kind: 'start';
      /**
       * What is started.
       */
      readonly placement: string;
    }
  | {
      readonly kind: 'interrupt';
      /**
       * What does not answer meanwhile.
       */
      readonly placement: string;
      /**
       * More placements that do not: those behind one doorman.
       */
      readonly others?: (readonly string[]);
      /**
       * For how long, about.
       */
      readonly seconds: number;
    }
  | {
      readonly kind: 'delete';
      /**
       * How much is deleted.
       */
      readonly bytes: number;
    };

/**
 * What `meshwright plan --json` prints and `--out` saves: everything that apply would do, and everything that keeps it from doing more.
 */
export interface PlanDocument {
  readonly formatVersion: 1;
  /**
   * The name of the cluster file.
   */
  readonly cluster: string;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * The nodes that were chosen; absent for all of the file.
   */
  readonly targets?: (readonly PlanNode[]);
  /**
   * What cluster.lock has not got yet; absent when nothing.
   */
  readonly lock?: {
    /**
     * One line for each.
     */
    readonly additions: (readonly string[]);
  };
  /**
   * What is taken of RDMA devices, by node, where starts over RDMA can come and this is known; absent otherwise.
   */
  readonly launches?: {
    readonly [k: string]: PlanLaunches;
  };
  /**
   * With --scripts: every script that steps send to root, in the order of the steps. RUN, token 0, CONFIG, USER and HOST stand for what the run itself is and has.
   */
  readonly scripts?: (readonly {
    readonly step: string;
    readonly node: PlanNode;
    /**
     * Shell text, without what stands around every script.
     */
    readonly text: string;
  }[]);
  /**
   * The memory of every node that carries a placement; absent where the file has none.
   */
  readonly memory?: (readonly PlanNodeMemory[]);
  /**
   * SHA-256 of the file with its defaults and with what the lock adds to it.
   */
  readonly configHash: string;
  /**
   * What was looked at, by node; when any of it differs the plan is stale.
   */
  readonly observed: {
    readonly [k: string]: {
      /**
       * UUID of the boot session; null when unknown.
       */
      readonly bootSession: string | null;
      /**
       * SHA-256 of all properties of the node.
       */
      readonly hash: string;
    };
  };
  /**
   * What will be otherwise, by node, then by resource.
   */
  readonly changes: (readonly {
    /**
     * The property, such as power/sleep.
     */
    readonly resource: string;
    readonly node: PlanNode;
    /**
     * What it is, in words.
     */
    readonly from: string;
    /**
     * What it will be.
     */
    readonly to: string;
    /**
     * Why: usually the key of the file.
     */
    readonly reason: string;
  }[]);
  /**
   * What is done, each after everything that it needs.
   */
  readonly steps: (readonly PlanStep[]);
  /**
   * Clean-up of groups of which a step failed.
   */
  readonly rescues: (readonly {
    /**
     * The group.
     */
    readonly group: string;
    /**
     * What is done then.
     */
    readonly steps: (readonly PlanStep[]);
  }[]);
  /**
   * What cannot be planned yet.
   */
  readonly waiting: (readonly {
    /**
     * The property, or the kind of thing.
     */
    readonly resource: string;
    readonly node: PlanNode;
    /**
     * What it waits for.
     *
     * @minItems 1
     */
    readonly for: (readonly string[]);
    /**
     * Whether anything of it could not be seen, so that the run cannot end well.
     */
    readonly unknown: boolean;
  }[]);
  /**
   * The work list: what apply cannot do, or may not do by itself, in the order in which it should be done.
   */
  readonly blockers: (readonly {
    /**
     * Explained in docs/errors.md.
     */
    readonly code: string;
    readonly node: PlanNode;
    /**
     * The kind of thing that it belongs to.
     */
    readonly resource: string;
    /**
     * What to do.
     */
    readonly action: string;
    /**
     * Whether a person has to go to the Mac.
     */
    readonly hands: boolean;
    /**
     * Other nodes that it keeps waiting.
     */
    readonly peers: (readonly PlanNode[]);
    /**
     * What waits for it, as `<node> <property>`.
     */
    readonly blocks: (readonly string[]);
  }[]);
  /**
   * What the plan disturbs, one entry per kind.
   */
  readonly effects: (readonly {
    /**
     * As --allow names it.
     */
    readonly kind: 'start' | 'network' | 'rdma-start' | 'interrupt' | 'reboot' | 'shutdown' | 'delete';
    /**
     * Where.
     */
    readonly nodes: (readonly PlanNode[]);
    /**
     * Whose.
     */
    readonly placements: (readonly string[]);
    /**
     * The longest interruption.
     */
    readonly seconds?: number;
    /**
     * How much is deleted.
     */
    readonly bytes?: number;
  }[]);
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * What is only worth knowing, and why nodes could not be observed.
   */
  readonly diagnostics: (readonly PlanDiagnostic[]);
}
/**
 * What starts over RDMA have taken of the RDMA devices of a node since its last boot.
 */
export interface PlanLaunches {
  readonly starts: number;
  /**
   * As many as there may be.
   */
  readonly limit: number;
  /**
   * Whether the devices say no limits.
   */
  readonly assumed: boolean;
  /**
   * kernel: protection domains or queue pairs of the device that has the least left. starts: a count of starts, where the kernel could not be read.
   */
  readonly source: 'kernel' | 'starts';
}
/**
 * The memory of one node with all that is to serve on it, in bytes.
 */
export interface PlanNodeMemory {
  readonly node: string;
  /**
   * All of it; null when unknown, as the next four.
   */
  readonly memory: number | null;
  /**
   * How much its GPU may use.
   */
  readonly budget: number | null;
  /**
   * desired: the file sets it; seen: the node has it; reported: by the log of a rank; assumed: usual for its size.
   */
  readonly budgetKind: 'desired' | 'seen' | 'reported' | 'assumed' | null;
  /**
   * Of all its placements whose need is known.
   */
  readonly need: number;
  /**
   * does-not-fit: more than the budget; tight: more than 90 % of it; degraded, near-degraded: more than 70 % or 60 % of the memory.
   */
  readonly verdict: 'fits' | 'near-degraded' | 'degraded' | 'tight' | 'does-not-fit' | null;
  /**
   * What each placement needs here: total is the most at any moment, since loading and caches never come together.
   */
  readonly placements: (readonly {
    readonly placement: string;
    readonly rank: number;
    readonly total: number;
    readonly weights: number;
    readonly cache: number;
    readonly compute: number;
    readonly promptCache: number;
    readonly loading: number;
    readonly process: number;
  }[]);
  /**
   * Placements on it whose need nobody knows.
   */
  readonly unknown: (readonly string[]);
}
/**
 * One act. Its fields are what is executed.
 */
export interface PlanStep {
  /**
   * Unique in the plan.
   */
  readonly id: string;
  readonly node: PlanNode;
  /**
   * The kind of thing that it belongs to.
   */
  readonly resource: string;
  /**
   * How it may be repeated.
   */
  readonly class: 'probe' | 'converge' | 'job' | 'once' | 'manual';
  readonly act: PlanAct;
  readonly effect: PlanEffect;
  /**
   * The change that it makes, as `<node> <resource>` of `changes`; null for gates, clean-up and hands.
   */
  readonly change: string | null;
  /**
   * All the changes that it makes or makes ready, where it is more than one.
   */
  readonly changes: (readonly string[]);
  /**
   * Steps that must have ended well before.
   */
  readonly needs: (readonly string[]);
  /**
   * Steps that must have ended before, whatever came of them.
   */
  readonly after?: (readonly string[]);
  /**
   * Stopped as a whole when one of its steps fails.
   */
  readonly group?: string;
  /**
   * Other nodes whose state it relies on.
   */
  readonly peers: (readonly PlanNode[]);
  /**
   * What will be so afterwards.
   */
  readonly establishes: (readonly PlanPatch[]);
  /**
   * What nobody can know before it is done.
   */
  readonly knownAfter?: (readonly string[]);
  /**
   * When it counts as failed; 0 where nobody waits.
   */
  readonly deadlineMs: number;
}
/**
 * A path on the node, as a Mac knows it.
 */
export interface PlanPath {
  readonly kind: 'node-path';
  /**
   * Absolute.
   */
  readonly path: string;
}
/**
 * One property and the value it is to have.
 */
export interface PlanPatch {
  readonly node: PlanNode;
  /**
   * The property.
   */
  readonly address: string;
  /**
   * The value.
   */
  readonly value: {
    readonly [k: string]: unknown;
  };
}
/**
 * One problem.
 */
export interface PlanDiagnostic {
  /**
   * area/slug, never reused; each is explained in docs/errors.md.
   */
  readonly code: string;
  /**
   * An error stops the run, a warning does not, a notice is only worth knowing.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code, without user data.
   */
  readonly summary: string;
  /**
   * What, then why.
   */
  readonly detail: string;
  /**
   * What to do now.
   */
  readonly hint: string;
  /**
   * The place; absent when the problem is not in a file.
   */
  readonly where?: {
    /**
     * The file as it was given.
     */
    readonly file: string;
    /**
     * From 1.
     */
    readonly line: number;
    /**
     * From 1, in UTF-16 code units.
     */
    readonly column: number;
  };
  /**
   * What it is about, such as `node studio-3`.
   */
  readonly subject?: string;
  /**
   * Other places that belong to it, such as the first of two equal links.
   */
  readonly related?: (readonly PlanDiagnostic[]);
}

/**
 * What verbs that change nodes print with --json: what was done, what is left, and how it ended.
 */
export interface ReportDocument {
  readonly formatVersion: 1;
  /**
   * The name of the cluster file.
   */
  readonly cluster: string;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * apply, start, stop, restart, reboot, shutdown or run.
   */
  readonly verb: string;
  /**
   * The file of `run`.
   */
  readonly playbook?: string;
  /**
   * The id of the run; absent when nothing was begun.
   */
  readonly run?: string;
  /**
   * The exit code of the command.
   */
  readonly exit: number;
  /**
   * Every exit code that holds; the first of 130, 143, 64, 65, 70, 75, 5, 1, 4, 3, 2, 0 is the one of the command.
   */
  readonly exits: (readonly number[]);
  /**
   * By property, as the last look has seen them.
   */
  readonly counts: {
    /**
     * Without a last look, as the steps reported.
     */
    readonly changed: number | null;
    readonly failed: number | null;
    readonly unchanged: number | null;
    /**
     * Why a count is null. A count is never 0 while a node was not reached.
     */
    readonly reason?: string;
  };
  /**
   * Every step of every plan that was run, then the clean-up.
   */
  readonly steps: (readonly ReportStep[]);
  /**
   * What the last look leaves to do; absent when nobody looked again.
   */
  readonly remaining?: {
    /**
     * Changes that a run can make.
     */
    readonly changes: (readonly ReportChange[]);
    /**
     * What waits, and for what.
     */
    readonly waiting: (readonly ReportWaiting[]);
    /**
     * The work list, in order.
     */
    readonly blockers: (readonly ReportBlocker[]);
  };
  /**
   * Nodes that other runs hold.
   */
  readonly refusals: (readonly {
    readonly node: string;
    readonly run: string;
    readonly owner: string;
    readonly verb: string;
    readonly phase: string;
    readonly since: string;
  }[]);
  /**
   * The lock file.
   */
  readonly lock: {
    readonly path: string;
    readonly written: boolean;
    /**
     * What it gained, one line each.
     */
    readonly additions: (readonly string[]);
  };
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * Problems of the run and of its last look.
   */
  readonly diagnostics: (readonly ReportDiagnostic[]);
}
/**
 * One step.
 */
export interface ReportStep {
  readonly id: string;
  readonly node: string;
  /**
   * The kind of resource.
   */
  readonly resource: string;
  /**
   * The kind of act.
   */
  readonly act: string;
  /**
   * The kind of effect.
   */
  readonly effect: string;
  readonly outcome: 'changed' | 'unchanged' | 'failed' | 'unknown' | 'skipped' | 'blocked' | 'interrupted';
  /**
   * Milliseconds; 0 for a step that was not begun.
   */
  readonly ms: number;
  /**
   * The group whose failure made this step run.
   */
  readonly rescues?: string;
  /**
   * What went wrong.
   */
  readonly diagnostics: (readonly ReportDiagnostic[]);
}
/**
 * One problem with its one cause and what to do.
 */
export interface ReportDiagnostic {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1.
   */
  readonly subject?: string;
  readonly related?: (readonly ReportDiagnostic[]);
}
/**
 * One property that is not as it should be.
 */
export interface ReportChange {
  readonly node: string;
  /**
   * The property, such as power/sleep.
   */
  readonly resource: string;
  /**
   * What it is, in words.
   */
  readonly from: string;
  /**
   * What it will be.
   */
  readonly to: string;
  /**
   * Why: usually the key of the file.
   */
  readonly reason: string;
}
/**
 * Something that cannot be changed now.
 */
export interface ReportWaiting {
  readonly node: string;
  /**
   * The property, such as placement/kimi.
   */
  readonly resource: string;
  /**
   * What it waits for.
   */
  readonly for: (readonly string[]);
  /**
   * Whether any of that could not be seen.
   */
  readonly unknown: boolean;
}
/**
 * An entry of the work list.
 */
export interface ReportBlocker {
  /**
   * The code of docs/errors.md.
   */
  readonly code: string;
  readonly node: string;
  /**
   * What to do, whole.
   */
  readonly action: string;
  /**
   * Whether only hands at the rack can do it.
   */
  readonly hands: boolean;
}

/**
 * What `meshwright secrets --json` prints. It never holds a secret.
 */
export interface SecretsDocument {
  /**
   * Grows when a reader of this form would misunderstand.
   */
  readonly formatVersion: 1;
  /**
   * Name of the rack.
   */
  readonly cluster: string;
  /**
   * There only when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * The sources that the file names for these nodes.
   */
  readonly sources: (readonly {
    /**
     * In a few words; of a command only its program.
     */
    readonly source: string;
    readonly kind: 'env' | 'file' | 'command' | 'prompt';
    /**
     * asked: a person is asked when it is needed.
     */
    readonly state: 'resolves' | 'missing' | 'asked';
    readonly nodes: (readonly string[]);
  }[]);
  /**
   * The sources of the keys of published endpoints that these nodes carry; absent where there is none.
   */
  readonly keys?: (readonly {
    readonly placement: string;
    /**
     * In a few words; of a command only its program.
     */
    readonly source: string;
    readonly kind: 'env' | 'file' | 'command';
    readonly state: 'resolves' | 'missing';
    /**
     * Why it gives no key.
     */
    readonly why?: string;
  }[]);
  /**
   * By node name.
   */
  readonly nodes: {
    readonly [k: string]: SecretsNode;
  };
  /**
   * Nodes of which this document says nothing, by name, with the code of the first problem (null: not asked) and its sentence. Absent when all were reached.
   */
  readonly unreached?: {
    readonly [k: string]: {
      readonly code: string | null;
      readonly reason: string;
    };
  };
  /**
   * What is wrong; see diagnostics.schema.json.
   */
  readonly diagnostics: (readonly SecretsDiagnostic[]);
}
export interface SecretsNode {
  /**
   * Absent when the file names none for this node.
   */
  readonly source?: string;
  /**
   * What the node needs it for now; after-restart: FileVault is on.
   */
  readonly need: 'unlock' | 'enroll' | 'after-restart' | 'nothing' | 'unknown';
  /**
   * How the node gets it; null when it is unknown whether it needs it.
   */
  readonly channels: (readonly string[]) | null;
}
export interface SecretsDiagnostic {
  /**
   * area/slug.
   */
  readonly code: string;
  /**
   * How bad it is.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  /**
   * What happened.
   */
  readonly detail: string;
  /**
   * What to do.
   */
  readonly hint: string;
}

/**
 * What `meshwright sim up`, `down`, `status`, `fault`, `hands`, `power-on` and `example` print with --json.
 */
export type SimDocument = {
  /**
   * Grows when a reader of this form would misunderstand.
   */
  readonly formatVersion: 1;
  /**
   * Nothing in this document is about a real Mac.
   */
  readonly simulated: true;
} & (SimFleet | SimStopped | SimFaults | SimKnown | SimHands | SimPower | SimExample);
/**
 * Whether the Mac is on.
 */
export type SimPowerState = 'up' | 'going-down' | 'down' | 'starting';
/**
 * Faults in force, each with its target.
 */
export type SimInForce = (readonly string[]);

/**
 * sim up, and sim status with the faults in force.
 */
export interface SimFleet {
  readonly formatVersion: unknown;
  readonly simulated: unknown;
  /**
   * Whether sim up started it or found it up already; up from sim status.
   */
  readonly state: 'started' | 'already' | 'up';
  /**
   * Name of the cluster.
   */
  readonly cluster: string;
  /**
   * Process of the simulator.
   */
  readonly pid: number;
  /**
   * By node name.
   */
  readonly nodes: {
    readonly [k: string]: {
      /**
       * Always loopback.
       */
      readonly host: '127.0.0.1';
      /**
       * Of its SSH server.
       */
      readonly port: number;
      /**
       * The ssh user.
       */
      readonly user: string;
      /**
       * The folder that is the node's disk.
       */
      readonly root: string;
      readonly power?: SimPowerState;
    };
  };
  readonly faults?: SimInForce;
}
/**
 * sim down.
 */
export interface SimStopped {
  readonly formatVersion: unknown;
  readonly simulated: unknown;
  /**
   * None was running, it was stopped, or a crashed one was cleaned up.
   */
  readonly state: 'none' | 'stopped' | 'cleaned';
}
/**
 * sim fault.
 */
export interface SimFaults {
  readonly formatVersion: unknown;
  readonly simulated: unknown;
  readonly faults: SimInForce;
}
/**
 * sim fault --list.
 */
export interface SimKnown {
  readonly formatVersion: unknown;
  readonly simulated: unknown;
  /**
   * Every fault there is.
   */
  readonly known: (readonly {
    /**
     * What to type.
     */
    readonly name: string;
    /**
     * What it changes.
     */
    readonly summary: string;
    /**
     * The forms of its target.
     */
    readonly targets: string;
  }[]);
}
/**
 * sim hands.
 */
export interface SimHands {
  readonly formatVersion: unknown;
  readonly simulated: unknown;
  /**
   * What the simulated hands did, in words.
   */
  readonly done: (readonly string[]);
  readonly faults: SimInForce;
}
/**
 * sim power-on.
 */
export interface SimPower {
  readonly formatVersion: unknown;
  readonly simulated: unknown;
  /**
   * Of every node, by name.
   */
  readonly power: {
    readonly [k: string]: SimPowerState;
  };
}
/**
 * sim example.
 */
export interface SimExample {
  readonly formatVersion: unknown;
  readonly simulated: unknown;
  /**
   * Where it was written, as an absolute path.
   */
  readonly folder: string;
}

/**
 * What the doorman before a published placement has counted; absent of one that is not published, or that no doorman knows yet.
 */
export type StatusClients =
  | {
      /**
       * When the counts began, by the clock of the node, in UTC; absent where that was not noted.
       */
      readonly since?: string;
      /**
       * Answered to their end.
       */
      readonly requests: number;
      /**
       * Broken off by the client or the runtime, or refused by the runtime.
       */
      readonly failed: number;
      /**
       * Turned away: closed, or too many at once.
       */
      readonly refused: number;
      /**
       * Of all answers.
       */
      readonly tokens: number;
      /**
       * Requests that the runtime has now.
       */
      readonly running: number;
      /**
       * Requests that wait for their turn.
       */
      readonly waiting: number;
      /**
       * Of one streamed answer behind its first token, over all of them; absent where none was streamed.
       */
      readonly tokensPerSecond?: number;
      /**
       * From a request to the first text of its streamed answer, on average; absent where none was streamed.
       */
      readonly firstTokenMs?: number;
      /**
       * Since anything came from the runtime; absent where nothing has since the doorman was started.
       */
      readonly lastByteMsAgo?: number;
      /**
       * How long nothing came although the runtime has requests; absent while it has none, and while a slow client holds it back.
       */
      readonly quietMs?: number;
      /**
       * Why it takes no requests; absent while it does.
       */
      readonly closed?: string;
    }
  | {
      /**
       * Why nothing is known of them.
       */
      readonly unknown: string;
    };
/**
 * What a receptacle or cable is, beside what the file says: nothing is declared and not plugged in, empty is free as it should be.
 */
export type StatusSight =
  | 'as-declared'
  | 'slow'
  | 'through-hub'
  | 'one-sided'
  | 'wrong'
  | 'nothing'
  | 'undeclared'
  | 'foreign'
  | 'device'
  | 'silent'
  | 'empty'
  | 'unknown';
/**
 * Speed of the cable; absent when macOS does not say it.
 */
export type StatusBitsPerSecond = number;
/**
 * Both ends, each as node:receptacle.
 *
 * @minItems 2
 * @maxItems 2
 */
export type StatusEnds = (readonly string[]);

/**
 * What `meshwright status --json` prints: every placement of the file, every node that was asked, every declared link with what became of it, and what is wrong.
 */
export interface StatusDocument {
  readonly formatVersion: 1;
  /**
   * The name of the cluster file.
   */
  readonly cluster: string;
  /**
   * Present and true when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * The placements of the file, by name.
   */
  readonly placements: {
    readonly [k: string]: StatusPlacement;
  };
  /**
   * The nodes that were asked, by name.
   */
  readonly nodes: {
    readonly [k: string]: StatusNode;
  };
  /**
   * Nodes of the file that this run did not ask.
   */
  readonly notAsked: (readonly string[]);
  /**
   * The declared links, in the order of the file.
   */
  readonly links: (readonly StatusLink[]);
  /**
   * Every cable that both its ends see, declared or not.
   */
  readonly cables: (readonly StatusCable[]);
  /**
   * What is wrong, and why nodes could not be observed, by node, severity and code.
   */
  readonly findings: (readonly StatusFinding[]);
}
/**
 * One placement of the file, judged as a plan judges it.
 */
export interface StatusPlacement {
  /**
   * hung runs and gives no token; changed runs and is not what the file says; of a partial one some ranks run; a dead one was started and none of it runs; not-placed was never started.
   */
  readonly state: 'serving' | 'hung' | 'changed' | 'partial' | 'dead' | 'stopped' | 'not-placed' | 'unknown';
  /**
   * Why it is said to be so, in words.
   */
  readonly evidence: string;
  /**
   * Present while it runs on its fallback: then everything else here is about that, and differs from the file.
   */
  readonly onFallback?: {
    /**
     * How many tokens of context it has there.
     */
    readonly contextTokens: number;
    /**
     * Those of its own nodes that could not be observed.
     */
    readonly away: (readonly string[]);
  };
  /**
   * What the file wants.
   */
  readonly wanted: 'serving' | 'stopped';
  /**
   * Beside what the file wants; not-asked when it has members that this run did not look at.
   */
  readonly standing: 'met' | 'differs' | 'unknown' | 'not-asked';
  /**
   * In the order of the ranks.
   */
  readonly nodes: (readonly string[]);
  readonly transport: 'rdma' | 'tcp';
  readonly sharding?: 'tensor' | 'pipeline';
  /**
   * The count of its starts; absent where it has none, or where not every member was seen.
   */
  readonly generation?: number;
  /**
   * Where it gave its token; absent while it does not serve.
   */
  readonly endpoint?: {
    readonly node: string;
    readonly port: number;
  };
  /**
   * How its ranks talk, as their logs say it; absent where no log does.
   */
  readonly seenTransport?: 'rdma' | 'tcp';
  /**
   * What shows how its ranks talk. log: their logs (seenTransport); start: the runtime agreed to the declared transport when it was started; none: nothing does, and transport is only what the file declares. Absent while none of it runs, and on one node.
   */
  readonly transportProof?: 'log' | 'start' | 'none';
  /**
   * How long one token took after the last start, once everything was loaded; absent where it was not measured.
   */
  readonly firstTokenMs?: number;
  /**
   * How fast the others followed.
   */
  readonly tokensPerSecond?: number;
  /**
   * Set where it talks over that against the file, and did so before its last restart of this boot session too.
   */
  readonly staysOn?: 'tcp';
  /**
   * Set where it gave no token in time and is known to serve by what its doorman passes on: it is busy.
   */
  readonly proof?: 'traffic';
  /**
   * What its nodes hold of the model, in bytes, as the log of its leader says it, in the order of the ranks; absent where it says nothing.
   */
  readonly memory?: (readonly {
    readonly node: string;
    readonly held: {
      readonly weights: number;
      /**
       * Of the context.
       */
      readonly cache: number;
      readonly compute: number;
    };
    /**
     * By the shape of the model; absent where that is not known.
     */
    readonly predicted?: {
      readonly weights: number;
      readonly cache: number;
    };
  }[]);
  readonly clients?: StatusClients;
  /**
   * Which rank failed first and what its log means; absent while it serves, and where no log says it.
   */
  readonly failure?: {
    readonly node: string;
    /**
     * Which rank, and how it ended.
     */
    readonly rank: string;
    /**
     * What it said.
     */
    readonly line: string;
    readonly meaning: string;
    /**
     * What to do.
     */
    readonly cure: string;
  };
}
/**
 * One node; a value that is absent is unknown.
 */
export interface StatusNode {
  /**
   * Whether anything could be asked; if not, a finding says why.
   */
  readonly reached: boolean;
  /**
   * The version with the extra of a background security improvement.
   */
  readonly macos?: string;
  readonly build?: string;
  /**
   * Apple's model identifier.
   */
  readonly model?: string;
  readonly memoryBytes?: number;
  /**
   * How far up the RDMA ladder the node has come.
   */
  readonly rdma: 'no-thunderbolt-5' | 'macos-too-old' | 'disabled' | 'no-device' | 'ready' | 'unknown';
  /**
   * The Thunderbolt Bridge: comes-back is gone now and in the preferences still.
   */
  readonly bridge: 'none' | 'active' | 'comes-back' | 'unknown';
  readonly launches?: StatusLaunches;
  /**
   * By number; absent when nobody could look.
   */
  readonly receptacles?: (readonly {
    readonly receptacle: number;
    readonly sight: StatusSight;
    /**
     * What is seen there, in words.
     */
    readonly sees: string;
    readonly bitsPerSecond?: StatusBitsPerSecond;
  }[]);
}
/**
 * What starts over RDMA have taken of the RDMA devices of the node since its last boot, where such starts can come.
 */
export interface StatusLaunches {
  readonly starts: number;
  /**
   * As many as there may be.
   */
  readonly limit: number;
  /**
   * Whether the devices say no limits.
   */
  readonly assumed: boolean;
  /**
   * kernel: protection domains or queue pairs of the device that has the least left. starts: a count of starts, where the kernel could not be read.
   */
  readonly source: 'kernel' | 'starts';
}
/**
 * One declared link and what became of it.
 */
export interface StatusLink {
  readonly ends: StatusEnds;
  readonly judgement:
    'as-declared' | 'slow' | 'through-hub' | 'one-sided' | 'missing' | 'elsewhere' | 'no-receptacle' | 'unknown';
  readonly bitsPerSecond?: StatusBitsPerSecond;
}
/**
 * One cable between two nodes.
 */
export interface StatusCable {
  readonly ends: StatusEnds;
  readonly sight: StatusSight;
  readonly bitsPerSecond?: StatusBitsPerSecond;
}
/**
 * One problem with its one cause and what to do.
 */
export interface StatusFinding {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  readonly detail: string;
  readonly hint: string;
  readonly where?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  };
  /**
   * node a; nodes a, b; link a:1 <-> b:2; receptacle a:1; placement a.
   */
  readonly subject?: string;
  readonly related?: (readonly StatusFinding[]);
}

/**
 * What `meshwright unlock --json` prints.
 */
export interface UnlockDocument {
  /**
   * Grows when a reader of this form would misunderstand.
   */
  readonly formatVersion: 1;
  /**
   * Name of the rack.
   */
  readonly cluster: string;
  /**
   * There only when the nodes are simulated.
   */
  readonly simulated?: true;
  /**
   * By node name.
   */
  readonly nodes: {
    readonly [k: string]: UnlockNode;
  };
}
export interface UnlockNode {
  /**
   * unlocked: it was, and has been observed since.
   */
  readonly state: 'unlocked' | 'not-locked' | 'locked' | 'unknown';
  /**
   * What became of the key that it shows at FileVault; absent when nobody looked.
   */
  readonly pin?: 'kept' | 'added' | 'declined' | 'refused';
  /**
   * Of that key, as ssh-keygen -l prints it.
   */
  readonly fingerprint?: string;
  /**
   * True when only the password is missing.
   */
  readonly lacksSecret: boolean;
  /**
   * What is wrong; see diagnostics.schema.json.
   */
  readonly diagnostics: (readonly UnlockDiagnostic[]);
}
export interface UnlockDiagnostic {
  /**
   * area/slug.
   */
  readonly code: string;
  /**
   * How bad it is.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  /**
   * Constant per code.
   */
  readonly summary: string;
  /**
   * What happened.
   */
  readonly detail: string;
  /**
   * What to do.
   */
  readonly hint: string;
}
