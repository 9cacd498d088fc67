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

/** A batch size: a count of nodes from 1, a share of all nodes, at least one node, or one unit of nodes. */
export type BatchSize =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'unit' };

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
  /** With `isRestart`, only the placements that the file sets to serving, because a start follows. */
  | { readonly kind: 'stop'; readonly placements?: readonly string[]; readonly isRestart?: true }
  /** Without `placements`, starts only those that the file declares as serving. */
  | { readonly kind: 'start'; readonly placements?: readonly string[] }
  /** Closes the gateways of published placements and waits for requests in flight; the ranks keep running. */
  | { readonly kind: 'drain'; readonly placements?: readonly string[]; readonly deadlineMs: number }
  | { readonly kind: 'reboot' }
  | { readonly kind: 'shutdown' }
  /** Brings back the placements that should serve and do not, as the command `recover` does. */
  | { readonly kind: 'recover'; readonly placements?: readonly string[] }
  /** Brings the nodes to the versions in the file, as the `upgrade` commands do. */
  | { readonly kind: 'upgrade'; readonly what: UpgradeChoice }
  /** Measures the speed of placements, as the command `bench` does. */
  | { readonly kind: 'bench'; readonly placements?: readonly string[] }
  /** Runs a program on this computer. */
  | { readonly kind: 'notify'; readonly command: readonly string[] }
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

/** macOS, all runtimes on the nodes, or one runtime. */
export type UpgradeChoice = 'macos' | 'runtimes' | { readonly runtime: string };

/** One task of a play: one of a file, the goal of a command, or what a play itself asks of each batch. */
export type Task =
  | FileTask
  | { readonly kind: 'goal'; readonly goal: Goal }
  /** Before the first task: fails unless the batch may begin now. */
  | { readonly kind: 'ready'; readonly play: Play }
  /** After the last task: the batch's placements must keep serving for this time. */
  | { readonly kind: 'bake'; readonly ms: number };

export type TaskOf<K extends TaskKind> = Extract<FileTask, { readonly kind: K }>;

export type TaskKind = FileTask['kind'];

/** A task's key in a file. A restart is read as a stop and a start. */
export type TaskWord = TaskKind | 'restart';

/** The kind of a task, or of its goal. */
export const kindOfTask = ({ task }: { readonly task: Task }): Task['kind'] | GoalKind =>
  task.kind === 'goal' ? task.goal.kind : task.kind;

/** A time of day on some days. A window that passes midnight belongs to the day on which it begins. */
export interface Window {
  /** Lower-case names of three letters; absent: every day. */
  readonly days?: readonly string[] | undefined;
  /** `22:00` */
  readonly from: string;
  readonly to: string;
  /** An IANA time zone. */
  readonly zone: string;
}

/** Unknown means that the batch does not begin. */
export type BatchBlocker =
  /** Blocks while the file exists on a Mac of the batch. */
  | { readonly file: string }
  /** Blocks unless the command exits with 0 on every Mac of the batch. */
  | { readonly command: readonly string[] }
  /** Blocks while a placement of the batch has more requests in flight. */
  | { readonly requests: number };

/** Tasks for some nodes, batch after batch. */
export interface Play {
  readonly name?: string;
  readonly nodes: NodeChoice;
  /** Batch sizes in order; the last one repeats. Empty: all nodes in one batch. */
  readonly serial: readonly BatchSize[];
  /** The number of failures that the play tolerates; after one more, no further batch or play starts. */
  readonly maxFailures: number;
  readonly tasks: readonly Task[];
  /** Never two serving placements of different units in one batch. */
  readonly respect?: 'placements';
  /** How long the placements of a batch must serve before the next batch begins. */
  readonly bakeMs?: number;
  /** The times at which a batch may begin; empty: always. */
  readonly windows?: readonly Window[];
  /** What keeps a batch from beginning. */
  readonly blockers?: readonly BatchBlocker[];
  /** Tasks for a whole batch after a failure in it. */
  readonly rescue?: readonly Task[];
  /** True if a batch does not begin while one of its placements hangs, since a hung placement cannot be drained. */
  readonly sparesHung?: boolean;
}

/** How long the placements of an upgraded unit must serve before the next unit stops. */
export const upgradeBakeMs = 60_000;

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
  /** What the task may disturb, for the documentation; absent if nothing. */
  readonly disturbs?: string;
  /** What happens if the task runs twice, for the documentation. */
  readonly twice: string;
  /** The default deadline, for tasks without a deadline key in the file. */
  readonly usualMs?: number;
  /** Paths of texts with fields, below the task's key; a list stands for all its items. */
  readonly texts?: readonly FieldText[];
}

/** All kinds of tasks. A new kind needs a line here, a branch in the expansion, and its keys in the schema. */
export const tasks: Readonly<Record<TaskWord, TaskEntry>> = {
  converge: {
    disturbs: 'whatever a change needs: it may restart placements and change network settings',
    twice: 'changes nothing the second time',
  },
  verify: { twice: 'changes nothing' },
  stop: { disturbs: 'interrupts the placements', twice: 'changes nothing the second time' },
  start: { twice: 'changes nothing the second time' },
  restart: { disturbs: 'interrupts the placements until they serve again', twice: 'restarts again' },
  recover: {
    disturbs: 'placements that do not serve, and their network; reboots Macs only with `--allow reboot`',
    twice: 'changes nothing while all placements serve',
  },
  upgrade: {
    disturbs: 'interrupts the placements of one unit after another; with `macos`, restarts its Macs',
    twice: 'changes nothing the second time',
  },
  drain: {
    usualMs: drainMs,
    disturbs: 'refuses new requests until `start` or `converge`',
    twice: 'changes nothing the second time',
  },
  reboot: { disturbs: 'interrupts every placement on the Macs, and restarts them', twice: 'reboots again' },
  shutdown: {
    disturbs: 'interrupts every placement on the Macs, and switches them off',
    twice: 'fails the second time',
  },
  wait: { twice: 'changes nothing' },
  assert: { texts: [{ path: ['says'], known: sentenceFields }], twice: 'changes nothing' },
  confirm: { texts: [{ path: [], known: sentenceFields }], twice: 'asks again' },
  pause: { twice: 'waits again' },
  bench: { disturbs: 'adds requests to those of clients', twice: 'measures again' },
  notify: { texts: [{ path: ['command'], known: sentenceFields }], twice: 'sends the notice again' },
  run: {
    usualMs: 60_000,
    texts: [
      { path: ['command'], known: commandFields },
      { path: ['unless'], known: commandFields },
    ],
    disturbs: 'whatever the command does; with `effect: network`, batches are whole units',
    twice: 'runs again, except where `unless` exits with 0',
  },
};

/** The kinds of resources whose changes never stop a placement. */
const harmlessKinds: readonly ResourceKind[] = [
  ...(['hold', 'identity', 'macos', 'filevault', 'sudo', 'power', 'updates', 'names', 'clock', 'accounts'] as const),
  ...(['login-window', 'screen-sharing', 'firewall', 'spotlight', 'time-machine', 'photos-analysis'] as const),
  ...(['wired-limit', 'keeper', 'staging'] as const),
];

/** True if the task needs equal macOS versions on cabled Macs at its end. */
export const updatesMacos = (task: Task): boolean => task.kind === 'upgrade' && task.what === 'macos';

/** True if a task may stop placements on its nodes. */
export function mayStop(task: Task): boolean {
  if (task.kind === 'converge') return task.only?.every((kind) => harmlessKinds.includes(kind)) !== true;
  if (task.kind === 'run') return task.effect === 'network';
  return ['stop', 'reboot', 'shutdown', 'recover', 'upgrade'].includes(task.kind);
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Converts `90s`, `10m` or `2h` to ms; the schema has checked the format. */
export const durationMs = (text: string): number => Number(text.slice(0, -1)) * (unitsMs[text.slice(-1)] ?? Number.NaN);

export const isTaskWord = (word: string): word is TaskWord => Object.hasOwn(tasks, word);

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
