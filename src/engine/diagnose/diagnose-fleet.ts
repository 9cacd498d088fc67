import { type Diagnostic, hasTrait, severities } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { compareText } from '../../model/lists.ts';
import type { NewestMeasurement } from '../../model/measured-cable.ts';
import type { LinkEnd, NodeName } from '../../model/node.ts';
import {
  isSameSubject,
  linkSubject,
  nodeSubject,
  receptacleSubject,
  subjectNames,
  subjectNodes,
  subjectText,
} from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { behindFirst, commandsIn, mapWords, prose } from '../../model/text/prose.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import { type Cabling, viewAt } from '../../rack/cabling/judge-cabling.ts';
import { takenEnds } from '../../rack/cabling/moves.ts';
import { isSameEnd } from '../../rack/cabling/receptacle-view.ts';
import { type Examination, examine, type FleetObservation } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import { type RunningPlacement, runningPlacements } from '../../rack/placement/mesh/rank-states.ts';
import { measuredFindings } from './measured-findings.ts';
import { areaOf, roleOf, rules } from './rules.ts';

/** The pairs of nodes whose shared cables a finding asks a person to unplug. */
function pulledPairs(examination: Examination, { subject }: Diagnostic): readonly JoinedPair[] {
  const { cabling, moves } = examination;
  const { links, cables, rack } = cabling;
  const pair = [...links.map(({ link }) => link), ...cables].find(({ ends }) =>
    isSameSubject(linkSubject(ends), subject),
  );
  const view = rack.views.find(({ at }) => isSameSubject(receptacleSubject(at), subject));
  const ends = pair?.ends ?? (view === undefined ? [] : [view.at]);
  const group = moves.find(({ mismatch }) => mismatch.ends.some((end) => ends.some((one) => isSameEnd(one, end))));
  if (group !== undefined && group.moves.length > 0) return joinedNodes(cabling, group.moves.flatMap(takenEnds));
  // While an end is unobserved, the hint does not ask to unplug anything.
  const isOpen = group?.mismatch.unclear.some((end) => viewAt(rack, end).kind === 'unknown') === true;
  const own = pair === undefined ? [] : [pair.ends.map(({ node }) => node)];
  return isOpen ? [] : [...own, ...joinedNodes(cabling, ends)];
}

/** Adds the placements to stop before a cable is unplugged, because replugging under load panics Macs. */
function behindStops(examination: Examination, running: readonly RunningPlacement[], finding: Diagnostic): Diagnostic {
  if (!hasTrait(finding, 'unplugs') || finding.severity === 'notice') return finding;
  const users = runningOver(running, pulledPairs(examination, finding));
  if (users.length === 0) return finding;
  const isSure = users.some(({ isGuess }) => !isGuess);
  const why = `First stop every placement that ${isSure ? 'uses' : 'may use'} this cable, because unplugging it under load can crash Macs`;
  const stops = users.map(({ name }) => meshwright('stop', name));
  const next = behindFirst(finding.hint);
  // A stop that only prepares a manual step is left to the person, so that the placement serves until that step.
  const isForPerson = commandsIn(next, subjectNames(finding.subject)).length === 0;
  return { ...finding, hint: prose`${withCommands(why, isForPerson ? stops.map(aside) : stops)}\nThen: ${next}` };
}

/**
 * All doctor findings, including those of the cables' newest measurements. Before one asks to unplug a placement's cable, it explains how to stop the placement.
 */
export function fleetFindings(
  desired: DesiredFleet,
  observation: FleetObservation,
  measured: readonly NewestMeasurement[] = [],
): readonly Diagnostic[] {
  const examination = examine(desired, observation);
  const running = runningPlacements(desired.placements, observation.nodes);
  // A measurement says nothing about a cable that is no longer where it was measured.
  const plugged = examination.cabling.links.flatMap(({ link, judgement }) =>
    judgement.kind === 'as-declared' || judgement.kind === 'slow' ? [link] : [],
  );
  const bootedAt = (node: NodeName): number | undefined => {
    const session = readValue(observation.nodes[node]?.facts, bootSessionFact);
    return session === undefined ? undefined : session.bootedAtEpochSeconds * 1_000;
  };
  const found = [...ofRightMacs(diagnoseFleet(desired, observation)), ...measuredFindings(plugged, measured, bootedAt)];
  return found.map((finding) => behindStops(examination, running, finding));
}

/** On nodes that are a different Mac, drops findings that apply would fix, because apply changes nothing there. */
function ofRightMacs(findings: readonly Diagnostic[]): readonly Diagnostic[] {
  const wrong = findings.filter((one) => areaOf(one) === 'identity').flatMap(nodesOf);
  return findings.filter((one) => !isForApply(one) || !nodesOf(one).some((node) => wrong.includes(node)));
}

function isForApply({ code }: Diagnostic): boolean {
  const role = roleOf(code);
  return role === 'converged' || role === 'converged-by-address' || role === 'converged-by-clock';
}

const nodesOf = ({ subject }: Diagnostic): readonly string[] => subjectNodes(subject);

export type JoinedPair = readonly NodeName[];

/** The two nodes of every cable at these receptacles. It counts even if only one end sees it: it may have traffic. */
export function joinedNodes({ rack }: Cabling, ends: readonly LinkEnd[]): readonly JoinedPair[] {
  const isAsked = (end: LinkEnd): boolean => ends.some((one) => isSameEnd(one, end));
  return rack.views.flatMap(({ at, peers }) =>
    peers.flatMap((peer): readonly JoinedPair[] =>
      peer.kind === 'node' && (isAsked(at) || isAsked(peer.end)) ? [[at.node, peer.end.node]] : [],
    ),
  );
}

/** Placements that have ranks on both nodes of a pair and may therefore use the cable between them. */
export const runningOver = (
  running: readonly RunningPlacement[],
  pairs: readonly JoinedPair[],
): readonly RunningPlacement[] =>
  running.filter(({ nodes }) => pairs.some((pair) => pair.every((node) => nodes.includes(node))));

/** Sorts findings by node (a link counts for its first node), then by severity, code and subject. */
function sortFindings(findings: readonly Diagnostic[], order: readonly string[]): readonly Diagnostic[] {
  const placeOf = ({ subject }: Diagnostic): number => {
    const places = subjectNodes(subject).map((name) => order.indexOf(name));
    return Math.min(...places.filter((place) => place >= 0), order.length);
  };
  return findings.toSorted(
    (a, b) =>
      placeOf(a) - placeOf(b) ||
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      compareText(a.code, b.code) ||
      compareText(subjectText(a.subject), subjectText(b.subject)),
  );
}

/** A failure without a subject applies to the node that lists it. */
function failuresOf(observation: FleetObservation): readonly Diagnostic[] {
  return Object.entries(observation.failures).flatMap(([name, failures]) =>
    failures.map((one) => ({ ...one, subject: one.subject ?? nodeSubject(name) })),
  );
}

/**
 * Escapes each line of a detail, so that a node's name cannot add a line. Hints may have several lines, including
 * commands to copy, so rules escape names from nodes before they build a hint.
 */
const escapeLinesOf = (text: string): string => text.split('\n').map(escapeText).join('\n');

const escapeFinding = (one: Diagnostic): Diagnostic => ({
  ...one,
  detail: mapWords(one.detail, escapeText),
  hint: mapWords(one.hint, escapeLinesOf),
});

/**
 * All known problems of the fleet, each with one cause and one action, and the reasons why nodes could not be observed.
 * Each node's unknown facts are listed once and never count as right or wrong.
 */
export function diagnoseFleet(desired: DesiredFleet, observation: FleetObservation): readonly Diagnostic[] {
  const examination = examine(desired, observation);
  const found = rules.flatMap((rule) => rule(examination)).map(escapeFinding);
  const order = desired.nodes.map((node) => node.name);
  return sortFindings([...failuresOf(observation), ...found], order);
}
