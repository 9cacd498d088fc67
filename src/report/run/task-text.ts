import { escapeText } from '../../diagnostics/escape.ts';
import { nodesText } from '../nodes-text.ts';

/** A task of a playbook that has no plan of its own, as a report needs it. */
export type ToldTask =
  | { readonly kind: 'run'; readonly command: readonly string[] }
  | { readonly kind: 'wait'; readonly for: string }
  | { readonly kind: 'assert'; readonly property: string; readonly is: string | number | boolean }
  | { readonly kind: 'verify' };

/**
 * `studio-1, studio-2: power/sleep is 0`; what failed says so, and why is told at the end.
 *
 * @param isCut whether the run was interrupted before the task had a result
 */
export function taskText(
  task: ToldTask,
  nodes: readonly string[],
  { failed, isCut }: { readonly failed: readonly string[]; readonly isCut: boolean },
): string {
  const [what, wrong] = wordsFor(task);
  if (isCut) return `${nodesText(nodes)}: interrupted before this was known: ${what}`;
  if (failed.length === 0) return `${nodesText(nodes)}: ${what}`;
  return `${nodesText(failed)}: ${wrong}`;
}

function wordsFor(task: ToldTask): readonly [string, string] {
  switch (task.kind) {
    case 'run': {
      const program = escapeText(task.command[0] ?? '');
      return [`${program} ran`, `${program} failed`];
    }
    case 'wait':
      return [task.for, `not ${task.for} in time`];
    case 'assert':
      return [`${task.property} is ${task.is}`, `${task.property} is not ${task.is}`];
    case 'verify':
      return ['nothing is left to change', 'something is left to change'];
  }
}
