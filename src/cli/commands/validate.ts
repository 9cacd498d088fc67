import { loadCluster } from '../../config/load-cluster.ts';
import { parseLock } from '../../config/lock.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../diagnostics-output.ts';
import { exitCode } from '../exit-codes.ts';
import { lockFileFor } from '../find-cluster.ts';
import { readIfThere, readText, requireClusterFile, shownPath } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import type { Run, VerbBody } from '../verb.ts';

/** `validate`: every problem of the cluster file and its lock at once; reaches no node. */
export const validate: VerbBody = async (run) => {
  const asked = withFileWord(run);
  const path = requireClusterFile(asked);
  const shown = shownPath(run.folder, path);
  const text = readText(path, shown);
  const loaded = loadCluster(text, shown);
  const lockPath = lockFileFor(path);
  const shownLock = shownPath(run.folder, lockPath);
  const lockText = readIfThere(lockPath, shownLock);
  const lockProblems = lockText === undefined ? [] : parseLock(lockText, shownLock).diagnostics;
  const diagnostics = [...loaded.diagnostics, ...lockProblems];
  if (run.options.json) showJson(run.console, { diagnostics: diagnosticsJson(diagnostics) });
  else showVerdict(run, shown, diagnostics, { [shown]: text, [shownLock]: lockText ?? '' });
  return diagnostics.some((one) => one.severity === 'error') ? exitCode.fileInvalid : exitCode.done;
};

function withFileWord(run: Run): Run {
  const [file, extra] = run.words;
  if (extra !== undefined) throw usageError('validate takes one file.', 'See: meshwright validate --help');
  return file === undefined ? run : { ...run, options: { ...run.options, file } };
}

function showVerdict(
  run: Run,
  shown: string,
  diagnostics: readonly Diagnostic[],
  sources: Readonly<Record<string, string>>,
): void {
  showDiagnostics(run.console, diagnostics, sources);
  const errors = diagnostics.filter((one) => one.severity === 'error').length;
  const warnings = diagnostics.filter((one) => one.severity === 'warning').length;
  if (errors > 0) {
    run.console.err(`${counted(errors, 'error')} in ${shown}; nothing was sent to any node.\n`);
  } else {
    const also = warnings > 0 ? `, with ${counted(warnings, 'warning')}` : '';
    run.console.out(`${shown} is valid${also}.\n`);
  }
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
