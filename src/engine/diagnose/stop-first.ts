import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { isSameSubject, linkSubject, receptacleSubject, subjectNames, subjectNodes } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { behindFirst, commandsIn, prose } from '../../model/text/prose.ts';
import { takenEnds } from '../../rack/cabling/moves.ts';
import { isSameEnd } from '../../rack/cabling/receptacle-view.ts';
import { viewAt } from '../../rack/cabling/see-receptacles.ts';
import { type Examination, examine } from '../../rack/examination.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { type RunningPlacement, runningPlacements } from '../../rack/placement/members.ts';
import { diagnoseFleet } from './diagnose-fleet.ts';
import { type JoinedPair, joinedNodes, runningOver } from './pulled-cables.ts';
import { roleOf } from './rules.ts';

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
  if (group !== undefined && group.moves.length > 0) {
    return joinedNodes(cabling, group.moves.flatMap(takenEnds));
  }
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
