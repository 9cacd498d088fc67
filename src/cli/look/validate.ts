import { dirname } from 'node:path';
import { pointerTo } from '../../desired/draft.ts';
import { nameInFile } from '../../desired/replicas.ts';
import { settleFleet } from '../../desired/settle/settle.ts';
import { sourcesToRead } from '../../desired/settle/settle-trees.ts';
import { type Diagnostic, hasErrors } from '../../diagnostics/diagnostic.ts';
import type { PlacementFinding } from '../../drivers/contract/driver.ts';
import { brokenPairs, pairDiagnostic, unknownPairs, versionPointer } from '../../drivers/known-pairs.ts';
import { keysByDriver } from '../../drivers/registry.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { checkDiagnostic, checkFallback, checkPlacement } from '../../rack/placement/check/placement-checks.ts';
import { counted } from '../../report/page.ts';
import { withGatewayProgram } from '../cluster/gateway-program.ts';
import { type JudgedFiles, judgeFiles } from '../cluster/open-cluster.ts';
import { exitCode } from '../exit-codes.ts';
import { missingPrograms, missingSources, seeSources } from '../sources/controller-source.ts';
import { annotate, diagnosticsJson, diagnosticsText, paragraphText } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';

export const validate: VerbBody = async (run) => {
  const named = withFileWord(run);
  const read = judgeFiles(named);
  const judged = { ...read, fleet: read.fleet && withGatewayProgram(read.fleet) };
  const { shown, sources, fleet, lock, path } = judged;
  const places = fleet === undefined ? undefined : sourcesToRead(fleet, lock, dirname(path));
  const seen = places === undefined ? { archives: {}, folders: {} } : await seeSources(named, places);
  const judgedFleet = fleet === undefined ? [] : [{ fleet, path, whereIs: judged.whereIs }];
  const programs = await Promise.all(judgedFleet.map((one) => missingPrograms(one, run.signal)));
  const settled =
    fleet === undefined || hasErrors(judged.diagnostics)
      ? undefined
      : settleFleet(fleet, lock, seen, dirname(path), keysByDriver).fleet;
  const diagnostics = [
    ...judged.diagnostics,
    ...programs.flat(),
    ...missingSources(judged, seen),
    ...(settled === undefined ? [] : [...placementProblems(judged, settled), ...pairProblems(judged, settled)]),
  ];
  annotate(run.console, diagnostics);
  const list = diagnosticsText(run.console, diagnostics, sources, run.console.hasColor);
  const unknown = settled === undefined || hasErrors(diagnostics) ? [] : unknownPairs(settled);
  const unlisted = `Unknown whether they work together: ${unknown.join('; ')}.`;
  return {
    exit: hasErrors(diagnostics) ? exitCode.fileInvalid : exitCode.done,
    document: {
      diagnostics: diagnosticsJson(run.console, diagnostics),
      ...given({ unknownPairs: unknown.length === 0 ? undefined : unknown }),
    },
    text: `${list}${verdictText(shown, diagnostics)}\n${unknown.length === 0 ? '' : paragraphText(run.console, unlisted)}`,
  };
};

function withFileWord(run: Run): Run {
  const [file] = run.words;
  if (file === undefined) return run;
  if (run.options.file !== undefined) throw usageError('Two files were entered.', 'Leave out -f or the other file.');
  return { ...run, options: { ...run.options, file } };
}

function verdictText(shown: string, diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter((one) => one.severity === 'error').length;
  const warnings = diagnostics.filter((one) => one.severity === 'warning').length;
  const also = warnings > 0 ? `, ${counted(warnings, 'warning')}` : '';
  const gap = diagnostics.length > 0 ? '\n' : '';
  if (errors === 0) return `${gap}${shown} is valid${also}.`;
  return `${gap}${counted(errors, 'error')}${also} in ${shown}; nothing was sent to any node.`;
}

/** Warnings about versions that break together, at the version of the runtime. */
const pairProblems = ({ whereIs }: JudgedFiles, settled: DesiredFleet): readonly Diagnostic[] =>
  brokenPairs(settled).map((pair) => ({
    ...pairDiagnostic(pair),
    ...given({ where: whereIs?.(versionPointer(pair.runtime)) }),
  }));

/** Placement problems that follow from the file, its lock and package lists. */
function placementProblems({ whereIs }: JudgedFiles, settled: DesiredFleet): readonly Diagnostic[] {
  return settled.placements
    .filter(({ state }) => state === 'serving')
    .flatMap((placement) => {
      const pointer = pointerTo('/placements', nameInFile(placement));
      const diagnosticsAt = (findings: readonly PlacementFinding[], at: string): readonly Diagnostic[] => {
        const where = whereIs?.(at);
        return findings
          .filter(({ severity }) => severity !== 'notice')
          .map((finding) => ({ ...checkDiagnostic(placement, finding), ...given({ where }) }));
      };
      const there = diagnosticsAt(checkFallback(placement, settled), `${pointer}/fallback`);
      return [...diagnosticsAt(checkPlacement(placement, settled), pointer), ...there];
    });
}
