import type { NodeName } from '../../model/node.ts';
import type { Goal, GoalKind } from '../../rack/goal.ts';
import { drainMs } from '../../rack/placement/mesh/gateway-steps.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';

export type NodeChoice =
  /** Every node in the cluster file. */
  | { readonly kind: 'all' }
  /** The nodes named on the command line, or the nodes of placements named there. */
  | { readonly kind: 'targets' }
  | { readonly kind: 'names'; readonly names: readonly NodeName[] }
  /** A list of `key=value` and `key!=value` conditions that must all be met. */
  | { readonly kind: 'labels'; readonly labels: readonly string[] };

/** A batch size: a count from 1, or a share of all nodes, at least one node. */
export type BatchSize =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number };

/** The effect that the playbook declares for a `run` task. */
export type RunEffect = 'none' | 'network';

/** The condition of a wait: every node can be observed, or every placement returns a token. */
export type WaitGoal = 'observed' | 'serving';

/**
 * One task of a file. Without `placements`, the task applies to the placements on the command line. If there are none
 * either, it applies to all placements with a rank on the batch's nodes.
 */
export type FileTask =
  /** Makes the nodes match the file; with `only`, limited to these kinds. */
  | { readonly kind: 'converge'; readonly only?: readonly ResourceKind[] }
  /** Checks that a fresh observation leaves nothing to change on these nodes. */
  | { readonly kind: 'verify' }
  | { readonly kind: 'stop'; readonly placements?: readonly string[] }
  /** Without `placements`, starts only those that the file declares as serving. */
  | { readonly kind: 'start'; readonly placements?: readonly string[] }
  /** Closes the gateways of published placements and waits for requests in flight; the ranks keep running. */
  | { readonly kind: 'drain'; readonly placements?: readonly string[]; readonly deadlineMs: number }
  | { readonly kind: 'reboot' }
  | { readonly kind: 'shutdown' }
  | {
      readonly kind: 'wait';
      readonly for: WaitGoal;
      readonly placements?: readonly string[];
      readonly deadlineMs: number;
    }
  /** Checks that the property has this value on each node that has the property, and that at least one node has it. */
  | {
      readonly kind: 'assert';
      /** The property's address in plans, for example `power/sleep`. */
      readonly property: string;
      readonly is: string | number | boolean;
      /** The message on failure, with `{field}`s. */
      readonly says?: string;
    }
  /** A yes-or-no question that may contain `{field}`s; `--yes` answers it. */
  | { readonly kind: 'confirm'; readonly text: string }
  /** Does nothing for a time such as `10m`. */
  | { readonly kind: 'pause'; readonly text: string }
  /** Runs one command per node as the SSH user; its arguments are passed unchanged. */
  | {
      readonly kind: 'run';
      readonly command: readonly string[];
      /** If this command exits with 0, the main command does not run. */
      readonly unless?: readonly string[];
      readonly effect: RunEffect;
      readonly deadlineMs: number;
    };

/** One task of a play: one of a file, or the goal of a command. */
export type Task = FileTask | { readonly kind: 'goal'; readonly goal: Goal };

export type TaskOf<K extends TaskKind> = Extract<FileTask, { readonly kind: K }>;

export type TaskKind = FileTask['kind'];

/** The kind of a task, or of its goal. */
export const kindOfTask = ({ task }: { readonly task: Task }): TaskKind | GoalKind =>
  task.kind === 'goal' ? task.goal.kind : task.kind;

/** Tasks for some nodes, batch after batch. */
export interface Play {
  readonly name?: string;
  readonly nodes: NodeChoice;
  /** Batch sizes in order; the last one repeats. Empty: all nodes in one batch. */
  readonly serial: readonly BatchSize[];
  /** The number of failures that the play tolerates; after one more, no further batch or play starts. */
  readonly maxFailures: number;
  readonly tasks: readonly Task[];
}

export interface Playbook {
  /** `restart` for `restart.yaml`. */
  readonly name: string;
  /** The file's one-sentence description. */
  readonly about?: string;
  readonly plays: readonly Play[];
}

export type Field = 'cluster' | 'nodes' | 'placements' | 'node' | 'host';

/** The valid fields in a sentence that is shown once per batch. */
const sentenceFields: readonly Field[] = ['cluster', 'nodes', 'placements'];

/** The valid fields in a command argument. The command runs separately on each node. */
const commandFields: readonly Field[] = ['cluster', 'node', 'host'];

/** A task's text that may contain fields: its path below the task, and the valid fields. */
export interface FieldText {
  readonly path: readonly string[];
  readonly known: readonly Field[];
}

interface TaskEntry {
  /** The default deadline, for tasks without a deadline key in the file. */
  readonly usualMs?: number;
  /** Paths of texts with fields, below the task's key; a list stands for all its items. */
  readonly texts?: readonly FieldText[];
}

/** All kinds of tasks. A new kind needs a line here, a branch in the expansion, and its keys in the schema. */
export const tasks: Readonly<Record<TaskKind, TaskEntry>> = {
  converge: {},
  verify: {},
  stop: {},
  start: {},
  drain: { usualMs: drainMs },
  reboot: {},
  shutdown: {},
  wait: {},
  assert: { texts: [{ path: ['says'], known: sentenceFields }] },
  confirm: { texts: [{ path: [], known: sentenceFields }] },
  pause: {},
  run: {
    usualMs: 60_000,
    texts: [
      { path: ['command'], known: commandFields },
      { path: ['unless'], known: commandFields },
    ],
  },
};

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Converts `90s`, `10m` or `2h` to ms; the schema has checked the format. */
export const durationMs = (text: string): number => Number(text.slice(0, -1)) * (unitsMs[text.slice(-1)] ?? Number.NaN);

export const isTaskKind = (word: string): word is TaskKind => Object.hasOwn(tasks, word);

const braces = /\{\{|\{([A-Za-z][A-Za-z-]*)\}/g;

/** All fields in a text, known or not; `end` is the position after the closing brace. `{{` is a literal brace. */
export const fieldsIn = (text: string) =>
  [...text.matchAll(braces)].flatMap(({ 0: whole, 1: name, index }) =>
    name === undefined ? [] : [{ name, start: index, end: index + whole.length }],
  );

/** Replaces the fields in a text once; values are not expanded again. `{{` becomes one brace. */
export const fillFields = (text: string, values: Readonly<Partial<Record<Field, string>>>): string =>
  text.replaceAll(braces, (whole, name: string | undefined) => {
    if (name === undefined) return '{';
    const value = Object.entries(values).find(([field]) => field === name)?.[1];
    return value ?? whole;
  });
