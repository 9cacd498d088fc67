import { drainMs } from '../../rack/placement/endpoint/doors.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import type { RunEffect, Task, TaskKind, WaitGoal } from './playbook.ts';

/** A word in braces that is filled in. */
export type Field = 'cluster' | 'nodes' | 'placements' | 'node' | 'host';

/** What a sentence may hold: it is said once for a whole batch. */
const sentenceFields: readonly Field[] = ['cluster', 'nodes', 'placements'];

/** What a word of a command may hold: it is run on each node by itself. */
const commandFields: readonly Field[] = ['cluster', 'node', 'host'];

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

/** What stands behind the key of each task in a file that its schema allows. */
export interface TaskSpecs {
  readonly converge: { readonly only?: readonly ResourceKind[] };
  readonly verify: object;
  readonly stop: { readonly placements?: readonly string[] };
  readonly start: { readonly placements?: readonly string[] };
  readonly drain: { readonly placements?: readonly string[]; readonly deadline?: string };
  readonly reboot: object;
  readonly shutdown: object;
  readonly wait: { readonly for: WaitGoal; readonly placements?: readonly string[]; readonly deadline: string };
  readonly assert: { readonly property: string; readonly is: string | number | boolean; readonly says?: string };
  readonly confirm: string;
  readonly run: {
    readonly command: readonly string[];
    readonly unless?: readonly string[];
    readonly effect: RunEffect;
    readonly deadline?: string;
  };
}

/** A text of a task that may hold fields: where it stands below the task, and which fields it knows. */
export interface FieldText {
  readonly path: readonly string[];
  readonly known: readonly Field[];
}

/** One kind of task: how its file form is read, and which of its texts hold fields. */
interface TaskEntry<K extends TaskKind> {
  readonly read: (spec: TaskSpecs[K]) => Extract<Task, { readonly kind: K }>;
  /** Paths below the key of the task; a list stands for all its items. */
  readonly texts: readonly FieldText[];
}

const usualRunMs = 60_000;

/** Every kind of task there is. A new one is a line here, a branch of the expansion, and its keys in the schema. */
export const tasks: { readonly [K in TaskKind]: TaskEntry<K> } = {
  converge: { read: (spec) => ({ kind: 'converge', ...spec }), texts: [] },
  verify: { read: () => ({ kind: 'verify' }), texts: [] },
  stop: { read: (spec) => ({ kind: 'stop', ...spec }), texts: [] },
  start: { read: (spec) => ({ kind: 'start', ...spec }), texts: [] },
  drain: {
    read: ({ deadline, ...spec }) => ({
      kind: 'drain',
      ...spec,
      deadlineMs: deadline === undefined ? drainMs : durationMs(deadline),
    }),
    texts: [],
  },
  reboot: { read: () => ({ kind: 'reboot' }), texts: [] },
  shutdown: { read: () => ({ kind: 'shutdown' }), texts: [] },
  wait: {
    read: ({ deadline, ...spec }) => ({ kind: 'wait', ...spec, deadlineMs: durationMs(deadline) }),
    texts: [],
  },
  assert: {
    read: (spec) => ({ kind: 'assert', ...spec }),
    texts: [{ path: ['says'], known: sentenceFields }],
  },
  confirm: { read: (text) => ({ kind: 'confirm', text }), texts: [{ path: [], known: sentenceFields }] },
  run: {
    read: ({ deadline, ...spec }) => ({
      kind: 'run',
      ...spec,
      deadlineMs: deadline === undefined ? usualRunMs : durationMs(deadline),
    }),
    texts: [
      { path: ['command'], known: commandFields },
      { path: ['unless'], known: commandFields },
    ],
  },
};

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `10m` or `2h` in milliseconds; the schema has judged the form. */
const durationMs = (text: string): number => Number(text.slice(0, -1)) * (unitsMs[text.slice(-1)] ?? Number.NaN);

/** Whether a word is the key of a task. */
export const isTaskKind = (word: string): word is TaskKind => Object.hasOwn(tasks, word);

/** Reads one task of a file that its schema allows: a map with one key. */
export function readTask(spec: Partial<TaskSpecs>): Task {
  const [kind] = Object.keys(spec).filter(isTaskKind);
  if (kind === undefined) throw new Error('a task has exactly one known key');
  const { read } = tasks[kind] as { readonly read: (spec: unknown) => Task };
  return read(spec[kind]);
}
