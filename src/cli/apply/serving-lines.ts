import { endpointUrl } from '../../desired/endpoints.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { seenValue } from '../../model/known.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { type PlacementSurvey, surveyPlacements } from '../../rack/placement/check/placement-survey.ts';
import { endpointStatus } from '../../rack/placement/endpoint/gateway-steps.ts';
import type { View } from '../../rack/resource.ts';

/**
 * Two lines for each placement that returned a token in this observation: where it serves, and a command to try it.
 * Omits placements whose gateway is not known to accept requests.
 */
export const servingLines = (view: View): readonly Prose[] =>
  surveyPlacements(view).flatMap((survey) => placementLines(survey, view));

function placementLines({ name, endpoint, onFallback }: PlacementSurvey, view: View): readonly Prose[] {
  const where = endpoint && whereText(name, endpoint, view);
  if (where === undefined) return [];
  const fallback = onFallback === undefined ? '' : ' on its fallback';
  return [`${name} serves${fallback} ${where}`, prose`Try it: ${meshwright('ask', name, '"Hello"')}`];
}

function whereText(
  name: string,
  { node, port }: NonNullable<PlacementSurvey['endpoint']>,
  { desired, targets }: View,
): string | undefined {
  const { placement, leader } = partsOf(name, node, desired);
  if (placement === undefined || leader === undefined) return undefined;
  if (placement.publication === undefined) return `on ${node}, port ${port} (reachable only on that Mac)`;
  const facts = targets.find(({ desired: one }) => one.name === node)?.facts;
  const status = facts && endpointStatus(facts, name, port);
  const seen = status && seenValue(status);
  return seen !== undefined && seen.closed === undefined ? `at ${endpointUrl(placement, leader)}/v1` : undefined;
}

const partsOf = (name: string, node: string, { placements, nodes }: Pick<DesiredFleet, 'placements' | 'nodes'>) => ({
  placement: placements.find((one) => one.name === name),
  leader: nodes.find((one) => one.name === node),
});
