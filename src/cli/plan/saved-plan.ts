import { resolve } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { namedSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { refuseOpenToOthers } from '../cluster/open-cluster.ts';
import { readFile, shownPath } from '../files/read-file.ts';
import { usageError } from '../verb/options.ts';
import type { Run } from '../verb/verb.ts';
import { formatIn, isSamePlan, planDifferences, planFormat, targetsIn } from './plan-document.ts';

/** A plan that was saved. */
export interface SavedPlan {
  /** How its file is called in text. */
  readonly shown: string;
  readonly text: string;
  /** The nodes that it is about; absent for all of the file. */
  readonly targets?: readonly string[];
}

/**
 * What the words of `apply` name: nodes, or the file of a saved plan.
 * @throws FleetError `cli/usage`, `cli/cannot-read`, `plan/unreadable`
 */
export function readApplyWords(
  run: Run,
  fleet: DesiredFleet,
): { readonly nodes: readonly string[]; readonly saved?: SavedPlan } {
  const isNode = (word: string): boolean => fleet.nodes.some(({ name }) => name === word);
  // What looks like no file is a name, and wrong names are told with what was meant.
  const file = run.words.find((word) => !isNode(word) && /[./]/.test(word));
  if (file === undefined) return { nodes: run.words };
  const isNarrowed = run.options.nodes !== undefined || run.options.label !== undefined;
  if (run.words.length > 1 || isNarrowed) {
    throw usageError(
      'A saved plan is named, and nodes or another file beside it.',
      'Name the plan alone: it knows its nodes.',
    );
  }
  return { nodes: [], saved: readSaved(run, file) };
}

function readSaved(run: Run, file: string): SavedPlan {
  const path = resolve(run.folder, file);
  const shown = shownPath(run.folder, path);
  const read = readFile(path, shown);
  refuseOpenToOthers(run, shown, read);
  const { text } = read;
  const targets = targetsIn(text);
  if (targets === undefined) {
    const format = formatIn(text);
    const why =
      format === undefined
        ? 'holds no plan'
        : `has the plan format ${format}, and this version of meshwright reads format ${planFormat}`;
    throw new FleetError([diagnose('plan/unreadable', { detail: `${shown} ${why}.`, subject: namedSubject(shown) })]);
  }
  return { shown, text, ...(targets === 'all' ? {} : { targets }) };
}

/** @throws FleetError `plan/stale` unless the document is what the saved plan says */
export function requireSame({ shown, text }: SavedPlan, document: string): void {
  if (isSamePlan(text, document) === true) return;
  throw new FleetError([
    diagnose('plan/stale', {
      subject: namedSubject(shown),
      detail: [`What would be done now is not what ${shown} says.`, ...planDifferences(text, document)].join('\n'),
      hint: prose`Look at the difference: ${meshwright('plan', '--out', 'new.json')}. Then apply that.`,
    }),
  ]);
}
