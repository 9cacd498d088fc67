import type { Diagnostic, NonEmpty } from '../../diagnostics/diagnostic.ts';
import type { MacState } from '../model/fleet.ts';
import type { MacEvent } from '../model/history.ts';
import type { NodeFile } from '../model/node-files.ts';
import type { UsableAddresses, Wiring } from '../model/wiring.ts';
import type { Write, Written } from '../tools/registry.ts';

export interface FaultText {
  /** As entered, such as `cable-missing studio-1:3`. */
  readonly text: string;
}

interface Refusal {
  readonly kind: 'refused';
  readonly diagnostics: NonEmpty<Diagnostic>;
}

/** The result of changing faults: all active faults. */
export type FaultAnswer = { readonly kind: 'done'; readonly faults: readonly FaultText[] } | Refusal;

/** The result of moving plugs: descriptions of the moves. */
export type ActsAnswer =
  /** `restarts`: the nodes whose Macs must reboot. */
  { readonly kind: 'done'; readonly done: readonly string[]; readonly restarts: readonly string[] } | Refusal;

export interface NodeView extends Pick<MacState, 'connection' | 'password' | 'hasKey' | 'ailments'> {
  /** Hardware UUID of the Mac at this node; absent if it is always the same Mac. */
  readonly mac?: string;
  /** Whether pmset lets the Mac boot by itself after a power failure. */
  readonly comesBackAfterPowerLoss: boolean;
  readonly files: readonly NodeFile[];
  /** Number of the current boot session, from 0; part of the mark of every process. */
  readonly bootCount: number;
  /** The addresses that the Mac can currently use; absent if there are none. */
  readonly reach?: UsableAddresses;
  /** Its interfaces and cables; absent for a model without a network. */
  readonly wiring?: Wiring;
}

export interface ToolAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

interface WriteAnswer extends Omit<Written, 'fleet'> {
  /** False if the tool only read, or refused. */
  readonly isChange: boolean;
}

/** The host reads the model again after every change. */
export interface FleetModel {
  readonly name: string;
  /** `outlet`: where the Mac was plugged in at the start, whatever the cluster file says later. */
  readonly nodes: readonly { readonly name: string; readonly user: string; readonly outlet?: string }[];
  readonly viewOf: (node: string) => NodeView;
  readonly faults: () => readonly FaultText[];
  /** Sets a fault; `words` are the fault's name and arguments, as entered. */
  readonly setFault: (words: readonly string[]) => FaultAnswer;
  /** Clears the faults that match these arguments; without arguments, all faults. */
  readonly clearFault: (words: readonly string[]) => FaultAnswer;
  /** Applies one command line that changes something. */
  readonly write: (write: Write) => WriteAnswer;
  /** Updates the network preferences of this node's Mac to `text`, because the node has changed the rendered file. */
  readonly reread: (node: string, text: string) => void;
  readonly happen: (node: string, event: MacEvent) => void;
  /** Does the manual steps for the declared state. Returns them in words, and the nodes whose Macs must reboot. */
  readonly hands: () => { readonly done: readonly string[]; readonly restarts: readonly string[] };
  /** Moves plugs or installs updates, as in `move studio-1:2 studio-1:3`: either all of them or none. */
  readonly act: (words: readonly string[]) => ActsAnswer;
  /** Whether this node existed in an earlier run, whose disk it reuses. */
  readonly reusesDisk: (node: string) => boolean;
  /** The whole state as text; undefined if the model cannot be saved. */
  readonly save: () => string | undefined;
}
