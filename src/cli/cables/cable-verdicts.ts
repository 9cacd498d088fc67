import { linkVerdict } from '../../engine/cables/cable-verdict.ts';
import type { CableWork } from '../../engine/cables/cable-work.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { subjectNodes } from '../../model/subject.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { verdictOf } from '../look/facts.ts';
import { codeForNodes, type ExitCode, exitCode, type NodeVerdict } from '../verb/exit-codes.ts';

const gravity: readonly NodeVerdict[] = ['wrong', 'unjudged', 'hands', 'fine'];

function nodeVerdict(
  desired: DesiredFleet,
  observation: FleetObservation,
  work: CableWork,
  name: NodeName,
): NodeVerdict {
  const { cabling } = work.examination;
  const failures = observation.failures[name] ?? [];
  const links = cabling.links.filter(({ link }) => link.ends.some(({ node }) => node === name));
  const isMoved = work.acts.some(({ ends }) => ends.some(({ node }) => node === name));
  const isRing = work.loops.some(({ subject }) => subjectNodes(subject).includes(name));
  const isStranger = work.findings.some(
    ({ code, subject }) => code.startsWith('identity/') && subjectNodes(subject).includes(name),
  );
  const verdicts: readonly NodeVerdict[] = [
    ...links.map((judged) => linkVerdict(desired, judged)),
    ...(isMoved || isRing ? (['hands'] as const) : []),
    ...(isStranger ? (['wrong'] as const) : []),
    verdictOf(failures),
  ];
  return gravity.find((verdict) => verdicts.includes(verdict)) ?? 'fine';
}

/**
 * 0 when every declared link is met and nothing has to be moved, 3 when hands can put the rest right, 4 when some of
 * it is unknown or cannot be mended by hands, 1 when no node was seen.
 */
export function codeForCables(desired: DesiredFleet, observation: FleetObservation, work: CableWork): ExitCode {
  const names = desired.nodes.map((node) => node.name);
  const verdicts = names.map((name) => nodeVerdict(desired, observation, work, name));
  const isUnseen = names.length > 0 && names.every((name) => (observation.failures[name] ?? []).length > 0);
  const code = codeForNodes(verdicts);
  return code === exitCode.failed && !isUnseen ? exitCode.partial : code;
}
