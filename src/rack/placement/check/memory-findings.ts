import type { PlacementFinding } from '../../../drivers/contract/driver.ts';
import { type NearestSearch, nearestFit, nearestText, needSentence } from '../../../drivers/fit-nearest.ts';
import { fitPlacements, worstVerdict } from '../../../drivers/fit-placements.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { FitVerdict } from '../../../model/fit.ts';
import { given } from '../../../model/given.ts';
import { type Prose, prose } from '../../../model/text/prose.ts';

type SeenMemories = NearestSearch['seen'];

/**
 * Whether a placement fits into the memory of its nodes beside all others that are to serve there, and in which form it
 * would; that nobody knows it, where that is so.
 */
export function memoryFindings(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  seen: SeenMemories,
): readonly PlacementFinding[] {
  const fits = fitPlacements(fleet, seen).filter(({ node }) => placement.nodes.includes(node));
  const model = fleet.models.find(({ name }) => name === placement.model);
  const blind = fits.filter(({ verdict }) => verdict === undefined).map(({ node }) => node);
  const verdict = worstVerdict(placement, fits);
  if (model?.shape === undefined) return [unknownMemory(model?.shapeUnknown ?? 'its files were not read yet')];
  const unseen = blind.length === 0 ? [] : [unknownMemory(`nobody knows the memory of ${blind.join(', ')}`)];
  if (verdict === undefined || verdict === 'fits') return unseen;
  const worst = fits.filter((fit) => fit.verdict === verdict);
  const nearest = nearestFit(placement, { fleet, links: fleet.thunderbolt.links, seen });
  const driver = fleet.runtimes.find(({ name }) => name === placement.runtime)?.driver;
  const isRefused = verdict === 'tight' || verdict === 'does-not-fit';
  const hint = isRefused || nearest !== undefined ? nearestText(nearest, driver) : undefined;
  return [findingOf(placement, verdict, { detail: needSentence(worst, verdict), hint }), ...unseen];
}

const unknownMemory = (why: string): PlacementFinding => ({
  code: 'placement/memory-unknown',
  severity: 'notice',
  detail: `Its memory cannot be judged: ${why}.`,
});

function findingOf(
  { allow = [] }: DesiredPlacement,
  verdict: Exclude<FitVerdict, 'fits'>,
  { detail, hint }: { readonly detail: string; readonly hint: Prose | undefined },
): PlacementFinding {
  const words = { detail, ...given({ hint }) };
  switch (verdict) {
    case 'does-not-fit':
      return { code: 'placement/does-not-fit', severity: 'error', ...words };
    case 'tight':
      return allow.includes('tight')
        ? { code: 'placement/tight', severity: 'warning', ...words, hint: hint ?? 'It was agreed to: allow: [tight].' }
        : {
            code: 'placement/tight',
            severity: 'error',
            ...words,
            hint: prose`${hint ?? ''} Or agree to it: allow: [tight].`,
          };
    case 'degraded':
      return { code: 'placement/degraded', severity: 'warning', ...words };
    case 'near-degraded':
      return { code: 'placement/near-degraded', severity: 'notice', ...words };
  }
}
