import type { DriverName } from '../../model/desired.ts';
import type { FitNodeMemory } from '../../model/documents.generated.ts';
import type { FitVerdict, MemoryBudget, NodeFit, RankNeed } from '../../model/fit.ts';
import { bytesText, tokensText } from '../../model/text/units.ts';
import type { NearestFit } from './fit-nearest.ts';

const needJson = ({ total, weights, cache, compute, promptCache, loading, process }: RankNeed) => ({
  total: Math.round(total),
  weights: Math.round(weights),
  cache: Math.round(cache),
  compute: Math.round(compute),
  promptCache,
  loading,
  process: Math.round(process),
});

/** The memory of a node as documents have it; all sizes are bytes. */
export const nodeFitJson = ({
  node,
  memoryBytes,
  budget,
  needBytes,
  verdict,
  shares,
  unknown,
}: NodeFit): FitNodeMemory => ({
  node,
  memory: memoryBytes ?? null,
  budget: budget?.bytes ?? null,
  budgetKind: budget?.kind ?? null,
  need: Math.round(needBytes),
  verdict: verdict ?? null,
  placements: shares.map(({ placement, rank, need }) => ({ placement, rank, ...needJson(need) })),
  unknown,
});

/**
 * Another form of a placement in which it fits, as one sentence.
 *
 * @param where the Macs among which another form was looked for
 */
export function nearestText(
  nearest: NearestFit | undefined,
  driver: DriverName | undefined,
  where = 'the nodes of this file',
): string {
  switch (nearest?.kind) {
    case undefined:
      return `No form of it fits on ${where}.`;
    case 'context':
      return `It fits with context: ${tokensText(nearest.contextTokens)}.`;
    case 'nodes':
      return `It fits on nodes: [${nearest.nodes.join(', ')}].`;
    case 'shares':
      return sharesText(nearest.shares, driver);
  }
}

function sharesText(shares: readonly number[], driver: DriverName | undefined): string {
  const start = 'It fits with its layers divided by memory';
  if (driver === 'llamacpp-rpc') return `${start}: sharding: pipeline, shares: [${shares.join(', ')}].`;
  if (driver === 'exo') return `${start}, as exo does with sharding: pipeline.`;
  return `${start} (${shares.join(' : ')}), which the drivers exo and llamacpp-rpc can.`;
}

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

/** How it is known what a GPU may use, where that is not plain. */
const sources: Readonly<Record<MemoryBudget['kind'], string>> = {
  desired: '',
  seen: ', as was set on it',
  reported: ', as a rank was told there',
  assumed: ', as is usual for its size',
};

/** `309.2 GB of the 498.2 GB that its GPU may use`, with what it is made of where that is more than one placement. */
function needText({ needBytes, budget, memoryBytes, shares }: NodeFit, verdict: FitVerdict): string {
  const parts = shares.map(({ placement, need }) => `${placement} ${bytesText(need.total)}`);
  const made = parts.length > 1 ? ` (${parts.join(', ')})` : '';
  const isOfMemory = verdict === 'degraded' || verdict === 'near-degraded';
  const whole = isOfMemory ? memoryBytes : budget?.bytes;
  if (whole === undefined) return `${bytesText(needBytes)}${made}`;
  return isOfMemory
    ? `${bytesText(needBytes)}${made} of ${bytesText(whole)}, ${percent(needBytes, whole)}`
    : `${bytesText(needBytes)}${made} of the ${bytesText(whole)} that its GPU may use${budget === undefined ? '' : sources[budget.kind]}`;
}

/** `studio-1, studio-2 need 517.1 GB of …`: nodes with one text together. */
export function needSentence(fits: readonly NodeFit[], verdict: FitVerdict): string {
  const groups = new Map<string, readonly string[]>();
  for (const fit of fits) {
    const text = needText(fit, verdict);
    groups.set(text, [...(groups.get(text) ?? []), fit.node]);
  }
  const texts = [...groups].map(
    ([text, nodes]) => `${nodes.join(', ')} ${nodes.length === 1 ? 'needs' : 'need'} ${text}`,
  );
  return `${texts.join('; ')}.`;
}
