import { takenEnds } from '../cabling/moves.ts';
import { isSameEnd } from '../cabling/receptacle-view.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { diagnoseFleet } from '../doctor/diagnose-fleet.ts';
import { type Examination, examine } from '../doctor/examination.ts';
import type { FleetObservation } from '../doctor/fleet-observation.ts';
import { withCommands } from '../doctor/hint-lines.ts';
import { linkSubject, receptacleSubject } from '../doctor/subject.ts';
import { type RunningPlacement, runningPlacements } from '../mesh/running-members.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { LinkEnd } from '../model/link.ts';
import type { NodeName } from '../model/node.ts';

/** The receptacles at which a finding about cables has hands pull a plug. */
function pulledEnds({ cabling, moves }: Examination, { subject = '' }: Diagnostic): readonly LinkEnd[] {
  const seen = [...cabling.links.map(({ link }) => link), ...cabling.cables].find(
    ({ ends }) => linkSubject(ends) === subject,
  );
  const view = cabling.rack.views.find(({ at }) => receptacleSubject(at) === subject);
  const ends = seen?.ends ?? (view === undefined ? [] : [view.at]);
  const group = moves.find(({ mismatch }) => mismatch.ends.some((end) => ends.some((one) => isSameEnd(one, end))));
  return group === undefined || group.moves.length === 0 ? ends : group.moves.flatMap(takenEnds);
}

/** The two nodes of every cable that is plugged in at one of these receptacles, as far as it is seen. */
function joinedNodes({ cabling }: Examination, ends: readonly LinkEnd[]): readonly (readonly NodeName[])[] {
  const views = cabling.rack.views.filter(({ at }) => ends.some((end) => isSameEnd(end, at)));
  return views.flatMap(({ at, peers }) =>
    peers.flatMap((peer) => (peer.kind === 'node' ? [[at.node, peer.end.node]] : [])),
  );
}

/** The same, with what has to be stopped before anybody pulls a plug: re-plugging under load panics Macs. */
function behindStops(examination: Examination, running: readonly RunningPlacement[], finding: Diagnostic): Diagnostic {
  if (!finding.code.startsWith('cabling/')) return finding;
  const pairs = joinedNodes(examination, pulledEnds(examination, finding));
  const users = running.filter(({ nodes }) => pairs.some((pair) => pair.every((node) => nodes.includes(node))));
  if (users.length === 0) return finding;
  const isSure = users.some(({ isGuess }) => !isGuess);
  const why = `${isSure ? 'First stop what runs' : 'First stop what may run'} over this cable, since pulling it under load can crash Macs:`;
  const commands = users.map(({ name }) => `meshwright stop ${name}`);
  return { ...finding, hint: `${withCommands(why, commands)}\nThen: ${finding.hint}` };
}

/**
 * Everything that the doctor finds. What has hands pull a plug of a cable that joins two members of a running placement
 * says first that this one has to be stopped, and how.
 */
export function fleetFindings(desired: DesiredFleet, observation: FleetObservation): readonly Diagnostic[] {
  const examination = examine(desired, observation);
  const running = runningPlacements(desired.placements, observation.nodes);
  return diagnoseFleet(desired, observation).map((finding) => behindStops(examination, running, finding));
}
