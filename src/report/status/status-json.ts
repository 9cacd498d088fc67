import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type DiagnosticJson, diagnosticJson } from '../../diagnostics/json.ts';
import { type NodeSurvey, surveyFleet } from '../../engine/diagnose/survey.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { linkEndText } from '../../model/link.ts';
import type { ClientCounts } from '../../rack/endpoint/client-counts.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import type { PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import type { NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import { type ClientCountsJson, clientCountsJson } from './client-lines.ts';

/** One receptacle as programs read it. */
export interface ReceptacleJson {
  readonly receptacle: number;
  readonly sight: string;
  readonly sees: string;
  readonly bitsPerSecond?: number;
}

/** What is taken of the RDMA devices of a node (`starts`), and how much may be. */
export interface LaunchesJson {
  readonly starts: number;
  readonly limit: number;
  readonly assumed: boolean;
  readonly source: 'kernel' | 'starts';
}

/** One node as programs read it; what is absent is unknown. */
export interface NodeJson {
  readonly reached: boolean;
  readonly macos?: string;
  readonly build?: string;
  readonly model?: string;
  readonly memoryBytes?: number;
  readonly rdma: string;
  readonly bridge: string;
  readonly receptacles?: readonly ReceptacleJson[];
  readonly launches?: LaunchesJson;
}

/** One placement of the file as programs read it. */
export type PlacementJson = Omit<PlacementSurvey, 'name'> & { readonly clients?: ClientCountsJson };

/** `status --json` (`schemas/status.schema.json`). */
export interface StatusJson {
  readonly formatVersion: 1;
  readonly cluster: string;
  /** Present and true when the nodes are simulated. */
  readonly simulated?: true;
  /** The placements of the file, by name. */
  readonly placements: Readonly<Record<string, PlacementJson>>;
  readonly nodes: Readonly<Record<string, NodeJson>>;
  /** Nodes of the file that this run did not ask. */
  readonly notAsked: readonly string[];
  readonly links: readonly {
    readonly ends: readonly [string, string];
    readonly judgement: string;
    readonly bitsPerSecond?: number;
  }[];
  /** Every cable that both its ends see, declared or not. */
  readonly cables: readonly {
    readonly ends: readonly [string, string];
    readonly sight: string;
    readonly bitsPerSecond?: number;
  }[];
  readonly findings: readonly DiagnosticJson[];
}

/** What `status --json` is made from. */
export interface StatusJsonInput {
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** As `diagnoseFleet` and `placementFindings` give them. */
  readonly findings: readonly Diagnostic[];
  readonly placements: readonly PlacementSurvey[];
  /** What came through the doors of published ones. */
  readonly clients?: readonly ClientCounts[];
  /** Of launches over RDMA, where any can come. */
  readonly budgets?: readonly NodeBudget[];
  readonly isSimulated: boolean;
}

const speedOf = ({ bitsPerSecond }: { readonly bitsPerSecond?: number }): { readonly bitsPerSecond?: number } =>
  bitsPerSecond === undefined ? {} : { bitsPerSecond };

/** The launches of each node, where they are known. */
export function launchesJson(budgets: readonly NodeBudget[]): Readonly<Record<string, LaunchesJson>> {
  const known = budgets.flatMap(({ node, budget }) => {
    if (budget.kind === 'unknown') return [];
    const { taken, limit, isAssumed, isCounted } = budget.value;
    const source = isCounted ? 'starts' : 'kernel';
    return [[node, { starts: taken, limit, assumed: isAssumed, source }] as const];
  });
  return Object.fromEntries(known);
}

function nodeJson({ name: _name, isReached, failure: _failure, receptacles, ...rest }: NodeSurvey): NodeJson {
  const seen = receptacles?.map((one) => ({
    receptacle: one.receptacle,
    sight: one.sight,
    sees: one.sees,
    ...speedOf(one),
  }));
  return { reached: isReached, ...rest, ...(seen === undefined ? {} : { receptacles: seen }) };
}

function clientsOf(name: string, { clients }: StatusJsonInput): { readonly clients?: ClientCountsJson } {
  const found = clients?.find(({ placement }) => placement === name);
  return found === undefined ? {} : { clients: clientCountsJson(found) };
}

/** The machine form of `status`. Text from nodes is as they gave it: print it with `jsonText`, which escapes it. */
export function statusJson(input: StatusJsonInput): StatusJson {
  const { desired, observation, findings, placements, isSimulated } = input;
  const launches = launchesJson(input.budgets ?? []);
  const survey = surveyFleet(desired, observation);
  return {
    formatVersion: 1,
    cluster: desired.name,
    ...(isSimulated ? { simulated: true } : {}),
    placements: Object.fromEntries(
      placements.map(({ name, ...rest }) => [name, { ...rest, ...clientsOf(name, input) }]),
    ),
    nodes: Object.fromEntries(
      survey.nodes.map((node) => {
        const own = launches[node.name];
        return [node.name, { ...nodeJson(node), ...(own === undefined ? {} : { launches: own }) }];
      }),
    ),
    notAsked: survey.notAsked,
    links: survey.links.map((link) => ({
      ends: [linkEndText(link.ends[0]), linkEndText(link.ends[1])],
      judgement: link.judgement,
      ...speedOf(link),
    })),
    cables: survey.cables.map((cable) => ({
      ends: [linkEndText(cable.ends[0]), linkEndText(cable.ends[1])],
      sight: cable.sight,
      ...speedOf(cable),
    })),
    findings: findings.map((one) => diagnosticJson(one, { isSimulated })),
  };
}
