import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { isHandsWork } from '../../diagnostics/manual-work.ts';
import type { NodeName } from '../../model/node.ts';
import { subjectNodes } from '../../model/subject.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import type { PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import type { NodeVerdict } from '../verb/exit-codes.ts';
import { verdictOf } from './facts.ts';

/** What the verdict on a node is made from. */
export interface Judged {
  readonly observation: FleetObservation;
  readonly findings: readonly Diagnostic[];
  readonly placements: readonly PlacementSurvey[];
}

/** How a node came out of a look at it: work for hands alone, wrong, or not to be judged. */
export function nodeVerdict(name: NodeName, { observation, findings, placements }: Judged): NodeVerdict {
  const unseen = verdictOf(observation.failures[name] ?? []);
  if (unseen !== 'fine') return unseen;
  const about = findings.filter((one) => subjectNodes(one.subject).includes(name));
  const errors = about.filter((one) => one.severity === 'error');
  const own = placements.filter((one) => one.nodes.includes(name));
  // A placement that is not as the file says is wrong on every member, wherever its fault lies.
  if (own.some(({ standing }) => standing === 'differs')) return 'wrong';
  if (errors.some((one) => !isHandsWork(one))) return 'wrong';
  // What is unknown could not be judged, so nobody can say that the node is as the file says.
  if (about.some((one) => one.code === 'fact/unknown')) return 'unjudged';
  if (own.some((one) => one.standing === 'unknown' && !hasUnseen(one, observation))) return 'unjudged';
  return errors.length > 0 ? 'hands' : 'fine';
}

/** What nobody knows of a placement because a node was not seen counts for that node, which is not fine itself. */
const hasUnseen = ({ nodes }: PlacementSurvey, { failures }: FleetObservation): boolean =>
  nodes.some((node) => (failures[node]?.length ?? 0) > 0);
