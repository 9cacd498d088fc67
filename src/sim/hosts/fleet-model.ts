import type { Diagnostic, NonEmpty } from '../../diagnostics/diagnostic.ts';
import type { Ailments, ConnectionState } from '../model/fleet.ts';
import type { NodeFile } from '../model/node-files.ts';
import type { Reach, Wiring } from '../model/wiring.ts';
import type { Write } from '../tools/registry.ts';

/** A fault that is in force. */
export interface ActiveFault {
  /** As a person sets it: `cable-missing studio-1:3`. */
  readonly text: string;
}

/** What a change of faults led to: all that are now in force, or why nothing was changed. */
export type FaultAnswer =
  | { readonly kind: 'done'; readonly faults: readonly ActiveFault[] }
  | { readonly kind: 'refused'; readonly diagnostics: NonEmpty<Diagnostic> };

/** Of the ssh user's account what is no file that everybody may read. */
export interface AccountState {
  readonly password: string;
  /** Whether the key of this computer lies in `~/.ssh/authorized_keys`, unless something on the node changed that. */
  readonly hasKey: boolean;
}

/** What the host needs to know of one node now. */
export interface NodeView {
  readonly connection: ConnectionState;
  /** Which Mac is in this node's place, by its hardware UUID; absent where it is always the same. */
  readonly mac?: string;
  readonly account: AccountState;
  readonly ailments: Ailments;
  /** Whether pmset lets it start by itself when the current is back. */
  readonly comesBackAfterPowerLoss: boolean;
  readonly files: readonly NodeFile[];
  /** Number of the present boot session, from 0; part of the mark of every process. */
  readonly bootCount: number;
  /** Which addresses it can use now; none when absent. */
  readonly reach?: Reach;
  /** Its interfaces and cables; absent for a model without a network. */
  readonly wiring?: Wiring;
}

/** What a tool prints, and how it ends. */
export interface ToolAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** What a tool says after a write. */
interface WriteAnswer extends ToolAnswer {
  /** False when it only printed its usage. */
  readonly isKnown: boolean;
  /** False when it only read, or refused. */
  readonly isChange: boolean;
  /** What then happens to the Mac as a whole. */
  readonly power?: 'restart' | 'off';
}

/** What came of telling the hands to move plugs: what they did, or why nothing was changed. */
export type ActsAnswer =
  | { readonly kind: 'done'; readonly done: readonly string[] }
  | { readonly kind: 'refused'; readonly diagnostics: NonEmpty<Diagnostic> };

/** What happens to the Mac behind a node while it runs, and when it starts. */
type NodeEvent =
  /**
   * Ranks send much TCP through its cables; a service was sent KILL; a foreign network daemon has run once; a person
   * typed its FileVault password.
   */
  | { readonly kind: 'tcp-load' | 'killed' | 'daemon-run' | 'unlock' }
  /** These processes were sent a signal that ends them. */
  | { readonly kind: 'processes-ended'; readonly pids: readonly number[] }
  /** A foreign network daemon was disabled or enabled. */
  | { readonly kind: 'daemon'; readonly isStopped: boolean }
  | { readonly kind: 'boot'; readonly atEpochSeconds: number };

/**
 * The model of a fleet as the host sees it: which nodes there are, what each looks like, and its faults. The host
 * asks again after every change.
 */
export interface FleetModel {
  readonly name: string;
  readonly nodes: readonly { readonly name: string; readonly user: string }[];
  readonly look: (node: string) => NodeView;
  readonly faults: () => readonly ActiveFault[];
  /** `words` is the fault's name and its arguments, as typed. */
  readonly setFault: (words: readonly string[]) => FaultAnswer;
  /** Ends the faults that these words name; all of them without words. */
  readonly clearFault: (words: readonly string[]) => FaultAnswer;
  /** Carries out one command line that changes something. */
  readonly write: (write: Write) => WriteAnswer;
  /** The network preferences of the Mac behind this node are no longer what was rendered: this is their text. */
  readonly reread: (node: string, text: string) => void;
  /** Lets this happen to the Mac behind this node. */
  readonly happen: (node: string, event: NodeEvent) => void;
  /**
   * Does what a person at the rack can do for what the file declares: what that was, in sentences without a full stop,
   * and the nodes whose Macs have to start anew.
   */
  readonly hands: () => { readonly done: readonly string[]; readonly restarts: readonly string[] };
  /** Moves plugs as these words say, such as `move studio-1:2 studio-1:3`; all that they say, or nothing. */
  readonly act: (words: readonly string[]) => ActsAnswer;
  /** Whether this node was there in an earlier run, so that its disk is kept. */
  readonly isKept: (node: string) => boolean;
  /** The whole state as a text; undefined for a model that cannot be kept. */
  readonly save: () => string | undefined;
}
