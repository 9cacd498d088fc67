import type { Severity } from '../../diagnostics/code-entry.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
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
import { type Cabling, viewAt } from '../../rack/cabling/judge-cabling.ts';
import { takenEnds } from '../../rack/cabling/moves.ts';
import { isSameEnd } from '../../rack/cabling/receptacle-view.ts';
import { type Examination, examine, type FleetObservation } from '../../rack/examination.ts';
import { type RunningPlacement, runningPlacements } from '../../rack/placement/members.ts';
import { roleOf, rules } from './rules.ts';

/** Findings whose action may have hands pull a plug. */
const pulling: readonly string[] = [
  'cabling/missing',
  'cabling/elsewhere',
  'cabling/slow',
  'cabling/one-sided',
  'cabling/through-hub',
  'cabling/no-answer',
  'cabling/undeclared',
  'cabling/doubled',
];

/** The nodes that are joined by the cables of which a finding has hands pull a plug, two by two. */
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
  // Nothing is to be pulled while nobody could look.
  const isOpen = group?.mismatch.unclear.some((end) => viewAt(rack, end).kind === 'unknown') === true;
  const own = pair === undefined ? [] : [pair.ends.map(({ node }) => node)];
  return isOpen ? [] : [...own, ...joinedNodes(cabling, ends)];
}

/** The same, with what has to be stopped before anybody pulls a plug: re-plugging under load panics Macs. */
function behindStops(examination: Examination, running: readonly RunningPlacement[], finding: Diagnostic): Diagnostic {
  if (!pulling.includes(finding.code)) return finding;
  const users = runningOver(running, pulledPairs(examination, finding));
  if (users.length === 0) return finding;
  const isSure = users.some(({ isGuess }) => !isGuess);
  const why = `${isSure ? 'First stop what runs' : 'First stop what may run'} over this cable, since pulling it under load can crash Macs`;
  const stops = users.map(({ name }) => meshwright('stop', name));
  const next = behindFirst(finding.hint);
  // A stop that only makes way for a person is the person's to type: what serves is not stopped before.
  const isForPerson = commandsIn(next, subjectNames(finding.subject)).length === 0;
  return { ...finding, hint: prose`${withCommands(why, isForPerson ? stops.map(aside) : stops)}\nThen: ${next}` };
}

/**
 * Everything that the doctor finds. What has hands pull a plug of a cable that joins two members of a running placement
 * says first that this one has to be stopped, and how.
 */
export function fleetFindings(desired: DesiredFleet, observation: FleetObservation): readonly Diagnostic[] {
  const examination = examine(desired, observation);
  const running = runningPlacements(desired.placements, observation.nodes);
  return ofRightMacs(diagnoseFleet(desired, observation)).map((finding) => behindStops(examination, running, finding));
}

/** Without findings that apply would mend on a node whose answers come from a different Mac: it changes nothing there. */
function ofRightMacs(findings: readonly Diagnostic[]): readonly Diagnostic[] {
  const wrong = findings.filter(({ code }) => code.startsWith('identity/')).flatMap(nodesOf);
  return findings.filter((one) => !isForApply(one) || !nodesOf(one).some((node) => wrong.includes(node)));
}

/** Whether apply mends it by itself. */
function isForApply({ code }: Diagnostic): boolean {
  const role = roleOf(code);
  return role === 'converged' || role === 'converged-by-address' || role === 'converged-by-clock';
}

const nodesOf = ({ subject }: Diagnostic): readonly string[] => subjectNodes(subject);

/** The two nodes that a cable joins. */
export type JoinedPair = readonly NodeName[];

/**
 * The two nodes of every cable that is plugged in at one of these receptacles, as far as it is seen. One end that sees
 * the other is enough: traffic may go over a cable of which the far end says nothing.
 */
export function joinedNodes({ rack }: Cabling, ends: readonly LinkEnd[]): readonly JoinedPair[] {
  const isAsked = (end: LinkEnd): boolean => ends.some((one) => isSameEnd(one, end));
  return rack.views.flatMap(({ at, peers }) =>
    peers.flatMap((peer): readonly JoinedPair[] =>
      peer.kind === 'node' && (isAsked(at) || isAsked(peer.end)) ? [[at.node, peer.end.node]] : [],
    ),
  );
}

/** The placements that have ranks at both nodes of one of these pairs: they may use the cable between them. */
export const runningOver = (
  running: readonly RunningPlacement[],
  pairs: readonly JoinedPair[],
): readonly RunningPlacement[] =>
  running.filter(({ nodes }) => pairs.some((pair) => pair.every((node) => nodes.includes(node))));

const severities: readonly Severity[] = ['error', 'warning', 'notice'];

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Findings in the order of the nodes (a link counts for its first node), then by severity, code and subject. */
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

/** A failure without a subject is about the node that it was filed under. */
function failuresOf(observation: FleetObservation): readonly Diagnostic[] {
  return Object.entries(observation.failures).flatMap(([name, failures]) =>
    failures.map((one) => ({ ...one, subject: one.subject ?? nodeSubject(name) })),
  );
}

/**
 * What rules tell is one line; a name that a node made up must not add another. A hint may have several, commands to
 * copy among them: rules escape whatever a node named before it goes into one.
 */
const escapeLinesOf = (text: string): string => text.split('\n').map(escapeText).join('\n');

const escapeFinding = (one: Diagnostic): Diagnostic => ({
  ...one,
  detail: mapWords(one.detail, escapeText),
  hint: mapWords(one.hint, escapeLinesOf),
});

/**
 * Everything that is known to be wrong with the fleet, each with its one cause and one thing to do, and the reasons
 * why nodes could not be observed. Facts that are unknown are listed once per node and never judged.
 */
export function diagnoseFleet(desired: DesiredFleet, observation: FleetObservation): readonly Diagnostic[] {
  const examination = examine(desired, observation);
  const found = rules.flatMap((rule) => rule(examination)).map(escapeFinding);
  const order = desired.nodes.map((node) => node.name);
  return sortFindings([...failuresOf(observation), ...found], order);
}
