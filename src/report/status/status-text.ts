import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { countText } from '../../diagnostics/severity.ts';
import { type FleetSurvey, surveyFleet } from '../../engine/diagnose/survey.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { ClientCounts } from '../../rack/endpoint/client-counts.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { isRdmaUnseen, type PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import type { NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import { cableLines } from '../cables/cable-list.ts';
import { counted } from '../counted.ts';
import { findingLines } from '../finding-lines.ts';
import { headLines } from '../head-lines.ts';
import { fitLines } from '../layout.ts';
import { mergeFindings } from '../merge-findings.ts';
import { type Page, type Paint, pageOf } from '../page.ts';
import { budgetLines } from '../plan/budget-lines.ts';
import { clientLines } from './client-lines.ts';
import { legendLines, nodeTable } from './node-table.ts';
import { placementLines } from './placement-lines.ts';

/** What `status` shows, and on what. */
export interface StatusInput {
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
  /** Width of the page; 80 when it is 0, NaN or endless. */
  readonly columns: number;
  readonly unicode: boolean;
  /** Leaves text as it is unless given. */
  readonly paint?: Paint;
}

const upperFirst = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** `4 nodes`, `6 links`, `1 placement`: what the file has; placements only where there are some. */
const sizes = ({ desired, placements }: StatusInput): readonly string[] => [
  counted(desired.nodes.length, 'node'),
  counted(desired.thunderbolt.links.length, 'link'),
  ...(placements.length === 0 ? [] : [counted(placements.length, 'placement')]),
];

const titleLines = (input: StatusInput, page: Page): readonly string[] =>
  headLines({ name: input.desired.name, about: sizes(input).join(', '), isSimulated: input.isSimulated }, page);

const unjudgedText = (links: number, placements: number): string =>
  [
    ...(links === 0 ? [] : [counted(links, 'link')]),
    ...(placements === 0 ? [] : [counted(placements, 'placement')]),
  ].join(' and ');

function verdictText(input: StatusInput, { nodes, links, notAsked }: FleetSurvey): string {
  const { desired, observation } = input;
  // What is told together counts once: the number is that of the blocks below.
  const findings = mergeFindings(input.findings);
  const isBroken = (name: string): boolean => (observation.failures[name]?.length ?? 0) > 0;
  const unreached = nodes.filter((node) => !node.isReached || isBroken(node.name)).length;
  const isBad = findings.some((one) => one.severity !== 'notice');
  const all = sizes(input);
  const scope =
    notAsked.length > 0
      ? `the ${counted(nodes.length, 'node')} looked at`
      : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
  const notices = findings.length === 0 ? '' : ` (${countText(findings)})`;
  if (!isBad && unreached === 0) {
    const others = input.placements.filter(({ standing }) => standing === 'differs').map(({ name }) => name);
    const but = others.length === 0 ? '' : ` but ${others.join(', ')}`;
    const unseen = input.placements.filter(isRdmaUnseen).map(({ name }) => name);
    if (unseen.length === 0) return `Everything matches the file${but}: ${scope}${notices}.`;
    const talk = unseen.length === 1 ? 'talks' : 'talk';
    return `Everything observed matches the file${but}: ${scope}${notices}. Not observed: whether ${unseen.join(', ')} ${talk} over RDMA.`;
  }
  const unjudged = links.filter((link) => link.judgement === 'unknown').length;
  const unknown = input.placements.filter(({ standing }) => standing === 'unknown').length;
  const missed = [
    ...(unreached === 0 ? [] : [`${unreached} of ${counted(desired.nodes.length, 'node')} could not be observed`]),
    ...(unjudged + unknown === 0 ? [] : [`${unjudgedText(unjudged, unknown)} could not be judged`]),
  ];
  return `${upperFirst(countText(findings))}.${missed.length === 0 ? '' : ` ${missed.join(' and ')}.`}`;
}

/** More rows than this would not fit a terminal, where they are written over. */
const mostSeenRows = 16;

/** The Macs that have been seen so far, as rows of the table that {@link statusText} shows in the end. */
export function seenLines({
  desired,
  observation,
  ...look
}: Pick<StatusInput, 'desired' | 'observation' | 'columns' | 'unicode' | 'paint' | 'isSimulated'>): readonly string[] {
  const page = pageOf(look);
  return nodeTable(surveyFleet(desired, observation).nodes, page).slice(0, mostSeenRows + 1);
}

/**
 * The rack on one page: the verdict, one line per placement, one line per node with a sign for each receptacle, the cables that are seen,
 * and what is wrong with what to do about it. Everything that came from a node is escaped; ends with a line break.
 */
export function statusText(input: StatusInput): string {
  const page = pageOf(input);
  const survey = surveyFleet(input.desired, input.observation);
  const notAsked = survey.notAsked.length === 0 ? [] : [`Not looked at: ${survey.notAsked.join(', ')}.`];
  const said = [verdictText(input, survey), ...notAsked];
  const blocks: readonly (readonly string[])[] = [
    titleLines(input, page),
    said.flatMap((text) => fitLines(text, page.columns - 2)).map((line) => `  ${line}`),
    [
      ...placementLines(input.placements, page),
      ...clientLines(input.clients ?? [], page),
      ...budgetLines(input.budgets ?? [], page),
    ],
    [...nodeTable(survey.nodes, page), ...legendLines(survey.nodes, page)],
    cableLines(survey, page),
    ...mergeFindings(input.findings).map((finding) => findingLines(finding, page)),
  ];
  const shown = blocks.filter((lines) => lines.length > 0);
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
