import { dirname } from 'node:path';
import { pointerTo } from '../../config/document/pointer.ts';
import { settleFleet } from '../../desired/settle/settle.ts';
import type { SourceFacts } from '../../desired/settle/source-facts.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { hasErrors } from '../../diagnostics/severity.ts';
import type { PlacementFinding } from '../../drivers/contract/placement-check.ts';
import { checkDiagnostic, checkFallback, checkPlacement } from '../../rack/placement/check/placement-checks.ts';
import type { JudgedFiles } from './open-cluster.ts';

/**
 * What speaks against the placements of a good file, from it, its lock and lists of packages. What nobody can know without looking
 * is left to the plan; nothing is said of a file with errors.
 */
export function placementProblems(
  { fleet, lock, diagnostics, path, whereIs }: JudgedFiles,
  sources: SourceFacts,
): readonly Diagnostic[] {
  if (fleet === undefined || hasErrors(diagnostics)) return [];
  const { fleet: settled } = settleFleet(fleet, lock, sources, dirname(path));
  return settled.placements
    .filter(({ state }) => state === 'serving')
    .flatMap((placement) => {
      const pointer = pointerTo('/placements', placement.name);
      const told = (findings: readonly PlacementFinding[], at: string): readonly Diagnostic[] => {
        const where = whereIs?.(at);
        return findings
          .filter(({ severity }) => severity !== 'notice')
          .map((finding) => ({ ...checkDiagnostic(placement, finding), ...(where === undefined ? {} : { where }) }));
      };
      const there = told(checkFallback(placement, settled), `${pointer}/fallback`);
      return [...told(checkPlacement(placement, settled), pointer), ...there];
    });
}
