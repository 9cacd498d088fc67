import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { diagnosticJson, documentHead } from '../../diagnostics/json.ts';
import { proseText, type Reader, reasonWords } from '../../diagnostics/prose-text.ts';
import type { Recoveries } from '../../engine/diagnose/past-cures.ts';
import { type NodeSurvey, surveyFleet } from '../../engine/diagnose/survey.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type {
  StatusClients,
  StatusDocument,
  StatusLaunches,
  StatusNode,
  StatusPlacement,
} from '../../model/documents.generated.ts';
import type { EndpointStatus } from '../../model/gateway.ts';
import { given } from '../../model/given.ts';
import { linkEndText } from '../../model/node.ts';
import { durationText, utcText } from '../../model/text/units.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { ClientCounts, PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import type { NodeBudget } from '../../rack/placement/placement-blockers.ts';
import { hang, type Page } from '../page.ts';

const oneDecimal = (value: number): number => Math.round(value * 10) / 10;

/** Tokens per second over all streamed answers; undefined if none was long enough to measure. */
const tokenSpeed = ({ counts: { generating } }: EndpointStatus): number | undefined =>
  generating.totalMs > 0 && generating.tokens > 0
    ? oneDecimal((generating.tokens * 1_000) / generating.totalMs)
    : undefined;

/** The mean time to the first token of a streamed answer, in ms; undefined without streamed answers. */
const firstTokenOf = ({ counts: { firstToken } }: EndpointStatus): number | undefined =>
  firstToken.count > 0 ? Math.round(firstToken.totalMs / firstToken.count) : undefined;

export function clientCountsJson({ status }: ClientCounts): StatusClients {
  if (status.kind === 'unknown') return { unknown: status.detail === '' ? reasonWords[status.reason] : status.detail };
  const { counts, placement: _placement, running, waiting, lastByteMsAgo, quietMs, closed } = status.value;
  const { requests, failed, refused, tokens, sinceEpochSeconds: since } = counts;
  const [tokensPerSecond, firstTokenMs] = [tokenSpeed(status.value), firstTokenOf(status.value)];
  return {
    ...(since === undefined ? {} : { since: isoText(since) }),
    ...{ requests, failed, refused, tokens, running, waiting },
    ...given({ tokensPerSecond, firstTokenMs, lastByteMsAgo, quietMs, closed }),
  };
}

/** `2026-09-26T06:12:40Z`. */
const isoText = (epochSeconds: number): string => utcText(epochSeconds).replace(' ', 'T').replace(' UTC', 'Z');

function clientCountsText(status: ClientCounts['status']): string {
  if (status.kind === 'unknown') return `unknown: ${escapeText(status.detail) || reasonWords[status.reason]}`;
  const { counts, running, waiting, quietMs, closed } = status.value;
  const { requests, failed, refused, sinceEpochSeconds: since } = counts;
  const [tokensPerSecond, firstTokenMs] = [tokenSpeed(status.value), firstTokenOf(status.value)];
  const parts = [
    `${requests} answered${since === undefined ? '' : ` since ${utcText(since)}`}`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(refused === 0 ? [] : [`${refused} refused`]),
    `${running + waiting} in flight${waiting === 0 ? '' : ` (${waiting} waiting)`}`,
    ...(quietMs === undefined ? [] : [`no output for ${durationText(quietMs)}`]),
    ...(tokensPerSecond === undefined ? [] : [`${tokensPerSecond} tokens/s`]),
    ...(firstTokenMs === undefined ? [] : [`first token ${durationText(firstTokenMs)}`]),
    ...(closed === undefined ? [] : [`closed: ${escapeText(closed)}`]),
  ];
  return parts.join(', ');
}

/** The requests counted by the gateways of published placements, one paragraph per placement. */
export const clientLines = (all: readonly ClientCounts[], { columns }: Page): readonly string[] =>
  all.flatMap(({ placement, status }) => hang(`  clients of ${placement}: `, clientCountsText(status), columns));

const recoveriesJson = ({ times, last: { atMs, cure } }: Recoveries): StatusPlacement['recovered'] => ({
  times,
  last: isoText(Math.floor(atMs / 1_000)),
  rung: cure.rung,
  names: cure.names,
});

export interface StatusInput {
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** As returned by `diagnoseFleet` and `placementFindings`. */
  readonly findings: readonly Diagnostic[];
  readonly placements: readonly PlacementSurvey[];
  readonly clients?: readonly ClientCounts[];
  /** How often placements were brought back lately. */
  readonly recoveries?: readonly Recoveries[];
  /** RDMA launch budgets, if any placement can be launched. */
  readonly budgets?: readonly NodeBudget[];
  readonly isSimulated: boolean;
}

export function launchesJson(budgets: readonly NodeBudget[]): Readonly<Record<string, StatusLaunches>> {
  const known = budgets.flatMap(({ node, budget }) => {
    if (budget.kind === 'unknown') return [];
    const { taken, limit, isAssumed, isCounted } = budget.value;
    const source = isCounted ? 'starts' : 'kernel';
    return [[node, { starts: taken, limit, assumed: isAssumed, source }] as const];
  });
  return Object.fromEntries(known);
}

function nodeJson({ name: _name, isReached, failure: _failure, receptacles, ...rest }: NodeSurvey): StatusNode {
  const seen = receptacles?.map(({ isInCable: _, ...one }) => one);
  return { reached: isReached, ...rest, ...given({ receptacles: seen }) };
}

const failureJson = (
  { node, rank, line, meaning, cure }: NonNullable<PlacementSurvey['failure']>,
  reader: Reader,
): StatusPlacement['failure'] => ({ ...{ node, rank, line, meaning }, cure: proseText(cure, reader) });

/** The JSON form of `status`. Text from nodes is unescaped: print the result with `jsonText`. */
export function statusJson(input: StatusInput): StatusDocument {
  const { desired, observation, findings, placements, clients, isSimulated } = input;
  const launches = launchesJson(input.budgets ?? []);
  const survey = surveyFleet(desired, observation);
  return {
    ...documentHead({ isSimulated }, { cluster: desired.name }),
    placements: Object.fromEntries(
      placements.map(({ name, failure, ...rest }) => {
        const own = clients?.find(({ placement }) => placement === name);
        const recovered = input.recoveries?.find(({ placement }) => placement === name);
        const more = {
          failure: failure && failureJson(failure, input),
          clients: own && clientCountsJson(own),
          recovered: recovered && recoveriesJson(recovered),
        };
        return [name, { ...rest, ...given(more) }];
      }),
    ),
    nodes: Object.fromEntries(
      survey.nodes.map((node) => {
        const own = launches[node.name];
        return [node.name, { ...nodeJson(node), ...given({ launches: own }) }];
      }),
    ),
    notAsked: survey.notAsked,
    links: survey.links.map(({ ends: [a, b], ...link }) => ({ ends: [linkEndText(a), linkEndText(b)], ...link })),
    cables: survey.cables.map(({ ends: [a, b], sight, bitsPerSecond }) => ({
      ends: [linkEndText(a), linkEndText(b)],
      sight,
      ...given({ bitsPerSecond }),
    })),
    findings: findings.map((one) => diagnosticJson(one, { isSimulated })),
  };
}
