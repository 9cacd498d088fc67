import { dirname } from 'node:path';
import { sourcesToRead } from '../../desired/settle/source-facts.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { judgeFiles } from '../cluster/open-cluster.ts';
import { placementProblems } from '../cluster/placement-problems.ts';
import { missingPrograms } from '../sources/list-archive.ts';
import { missingSources, seeSources } from '../sources/see-sources.ts';
import { answerDiagnostics, diagnosticsJson, showJson } from '../terminal/diagnostics-output.ts';
import { exitCode } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import type { Run, VerbBody } from '../verb/verb.ts';

/** `validate`: every problem of the cluster file and its lock at once; reaches no node. */
export const validate: VerbBody = async (run) => {
  const judged = judgeFiles(withFileWord(run));
  const { shown, sources } = judged;
  const { fleet, lock, path } = judged;
  const read = fleet === undefined ? undefined : sourcesToRead(fleet, lock, dirname(path));
  const seen = read === undefined ? { archives: {}, folders: {} } : await seeSources(run, read);
  const named = fleet === undefined ? [] : [{ fleet, baseFolder: dirname(path), whereIs: judged.whereIs }];
  const programs = await Promise.all(named.map((one) => missingPrograms(one, run.signal)));
  const diagnostics = [
    ...judged.diagnostics,
    ...programs.flat(),
    ...missingSources(judged, seen),
    ...placementProblems(judged, seen),
  ];
  if (run.options.json) showJson(run.console, { diagnostics: diagnosticsJson(run.console, diagnostics) });
  else {
    answerDiagnostics(run.console, diagnostics, sources);
    showVerdict(run, shown, diagnostics);
  }
  return diagnostics.some((one) => one.severity === 'error') ? exitCode.fileInvalid : exitCode.done;
};

function withFileWord(run: Run): Run {
  const [file] = run.words;
  if (file === undefined) return run;
  if (run.options.file !== undefined) throw usageError('Two files are named.', 'Leave -f or the word out.');
  return { ...run, options: { ...run.options, file } };
}

function showVerdict(run: Run, shown: string, diagnostics: readonly Diagnostic[]): void {
  const errors = diagnostics.filter((one) => one.severity === 'error').length;
  const warnings = diagnostics.filter((one) => one.severity === 'warning').length;
  if (diagnostics.length > 0) run.console.out('\n');
  const also = warnings > 0 ? `, ${counted(warnings, 'warning')}` : '';
  if (errors > 0) {
    run.console.out(`${counted(errors, 'error')}${also} in ${shown}; nothing was sent to any node.\n`);
  } else {
    run.console.out(`${shown} is valid${also}.\n`);
  }
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
