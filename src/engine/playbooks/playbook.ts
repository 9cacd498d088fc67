import type { NodeName } from '../../model/node.ts';
import type { HoldWish } from '../../rack/hold/resource.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import type { Goal } from '../goals/scope.ts';

/** Which nodes a play is about. */
export type NodeChoice =
  /** Every node of the cluster file. */
  | { readonly kind: 'all' }
  /** Those that the command line names; of a placement, the nodes that it runs on. */
  | { readonly kind: 'targets' }
  | { readonly kind: 'names'; readonly names: readonly NodeName[] }
  /** `key=value` or `key!=value`, all of which must hold. */
  | { readonly kind: 'labels'; readonly labels: readonly string[] };

/** How many nodes of a play go together: a count from 1, or a share of all of them, rounded up to one node at least. */
export type BatchSize =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number };

/** What a `run` task disturbs, as the playbook says. */
export type RunEffect = 'none' | 'network';

/** What a wait waits for: every node can be observed, or every placement gives a token. */
export type WaitGoal = 'observed' | 'serving';

/**
 * One task of a play. `placements` names some of the file; without it those are meant that the command line names, and
 * when it names none, all that have a member on the nodes of the batch.
 */
export type Task =
  /** What the file wants, on these nodes; only properties of these kinds where `only` is there. */
  | { readonly kind: 'converge'; readonly only?: readonly ResourceKind[] }
  /** A fresh observation must leave nothing to change on these nodes. */
  | { readonly kind: 'verify' }
  | { readonly kind: 'stop'; readonly placements?: readonly string[] }
  /** Without `placements` only what the file wants serving. */
  | { readonly kind: 'start'; readonly placements?: readonly string[] }
  /** Closes the doors of published placements and waits until nobody is inside; what runs goes on. */
  | { readonly kind: 'drain'; readonly placements?: readonly string[]; readonly deadlineMs: number }
  | { readonly kind: 'reboot' }
  | { readonly kind: 'shutdown' }
  | {
      readonly kind: 'wait';
      readonly for: WaitGoal;
      readonly placements?: readonly string[];
      readonly deadlineMs: number;
    }
  /** The property at this address is seen to be this on each node that has it, and at least one has. */
  | {
      readonly kind: 'assert';
      /** Such as `power/sleep`; the address of a property as plans show it. */
      readonly property: string;
      readonly is: string | number | boolean;
      /** What to say when it is not, with `{field}`s. */
      readonly says?: string;
    }
  /** A yes-or-no question with `{field}`s; `--yes` answers it. */
  | { readonly kind: 'confirm'; readonly text: string }
  /** Of the verbs `hold` and `release` alone. No file has it. */
  | { readonly kind: 'hold'; readonly wish: HoldWish }
  /** Takes us off the nodes: of the verb `uninstall` alone, which makes the fleet that it needs. No file has it. */
  | Extract<Goal, { readonly kind: 'uninstall' }>
  /** One command per node, as the ssh user; its words reach the node as they are. */
  | {
      readonly kind: 'run';
      readonly command: readonly string[];
      /** When this command ends with 0, the other is not run. */
      readonly unless?: readonly string[];
      readonly effect: RunEffect;
      readonly deadlineMs: number;
    };

/** A task of one kind. */
export type TaskOf<K extends Task['kind']> = Extract<Task, { readonly kind: K }>;

/** The kinds of tasks that a file can have. */
export type TaskKind = Exclude<Task['kind'], 'uninstall' | 'hold'>;

/** Tasks for some nodes, batch after batch. */
export interface Play {
  readonly name?: string;
  readonly nodes: NodeChoice;
  /** Sizes of the batches in order, the last one for all the rest; empty for all nodes together. */
  readonly serial: readonly BatchSize[];
  /** So many nodes of the play may fail; with one more, no batch and no play is begun any more. */
  readonly maxFailures: number;
  readonly tasks: readonly Task[];
}

/** One playbook: what its file says, judged. */
export interface Playbook {
  /** `restart` for `restart.yaml`. */
  readonly name: string;
  /** One sentence of the file about itself. */
  readonly about?: string;
  readonly plays: readonly Play[];
}

/** A word in braces that is filled in. */
export type Field = 'cluster' | 'nodes' | 'placements' | 'node' | 'host';

/** A field as a text has it; `end` is behind the closing brace. */
interface FieldPlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const braces = /\{\{|\{([A-Za-z][A-Za-z-]*)\}/g;

/** Every field of a text, known or not. `{{` is a brace and begins none. */
export const fieldsIn = (text: string): readonly FieldPlace[] =>
  [...text.matchAll(braces)].flatMap(({ 0: whole, 1: name, index }) =>
    name === undefined ? [] : [{ name, start: index, end: index + whole.length }],
  );

/** The text with its fields filled in, once: what a value holds is never looked at again. `{{` becomes one brace. */
export const fillFields = (text: string, values: Readonly<Partial<Record<Field, string>>>): string =>
  text.replaceAll(braces, (whole, name: string | undefined) => {
    if (name === undefined) return '{';
    const value = Object.entries(values).find(([field]) => field === name)?.[1];
    return value ?? whole;
  });
