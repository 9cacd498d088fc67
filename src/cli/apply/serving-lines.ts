import { endpointUrl, isPublished } from '../../desired/endpoints.ts';
import { nameInFile } from '../../desired/replicas.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import { seenValue } from '../../model/known.ts';
import { alike, listText } from '../../model/lists.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { type PlacementSurvey, surveyPlacements } from '../../rack/placement/check/placement-survey.ts';
import { endpointStatus } from '../../rack/placement/mesh/gateway-steps.ts';
import type { View } from '../../rack/resource.ts';
import { rehearsedUrls } from '../cluster/simulator.ts';
import type { Run } from '../verb.ts';

type Serving = NonNullable<ReportDocument['serving']>[number];

/** Each placement that returned a token, and where; without those whose gateway may not accept requests. */
export const servingPlacements = (view: View): readonly Serving[] =>
  surveyPlacements(view).flatMap((survey) => servingOf(survey, view) ?? []);

function servingOf({ name, endpoint, onFallback }: PlacementSurvey, view: View): Serving | undefined {
  const placement = view.desired.placements.find((one) => one.name === name);
  const leader = view.desired.nodes.find((one) => one.name === endpoint?.node);
  if (endpoint === undefined || placement === undefined || leader === undefined) return undefined;
  const { node, port } = endpoint;
  const at = { placement: name, node, port, ...(onFallback === undefined ? {} : { onFallback: true as const }) };
  if (placement.publication === undefined) return at;
  const facts = view.targets.find(({ desired }) => desired.name === node)?.facts;
  const status = facts && endpointStatus(facts, name, port);
  const seen = status && seenValue(status);
  if (seen === undefined || seen.closed !== undefined) return undefined;
  return isPublished(placement) ? { ...at, url: `${endpointUrl(placement, leader)}/v1` } : at;
}

/** In a rehearsal, the URLs on this computer in place of those of the Macs. @throws FleetError `sim/not-running` */
export async function servingHere(run: Run, all: readonly Serving[]): Promise<readonly Serving[]> {
  const published = all.filter(({ url }) => url !== undefined);
  const urlOf = await rehearsedUrls(run, published);
  return all.map((one) => {
    const url = one.url && urlOf(one);
    return url ? { ...one, url: `${url}/v1` } : one;
  });
}

/** Two lines for each placement in the file: where it serves, and a command to try it. Replicas share their lines. */
export const servingLines = (all: readonly Serving[], { placements }: Pick<DesiredFleet, 'placements'>) => {
  const names = new Map(placements.map((one) => [one.name, nameInFile(one)]));
  return alike(all, ({ placement }) => names.get(placement)).flatMap(([first, replicas]): readonly Prose[] => {
    const { placement, node, port, url, onFallback } = first;
    const name = names.get(placement) ?? placement;
    const urls = listText(replicas.flatMap((one) => one.url ?? []));
    const where = url === undefined ? `on ${node}, port ${port} (reachable only on that Mac)` : `at ${urls}`;
    const how = onFallback === undefined ? '' : ' on its fallback';
    return [`${name} serves${how} ${where}`, prose`Try it: ${meshwright('ask', name, '"Hello"')}`];
  });
};
