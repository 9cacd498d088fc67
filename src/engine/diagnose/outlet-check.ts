import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredNode, DesiredOutlet } from '../../model/desired.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, namedList, prose } from '../../model/text/prose.ts';
import { bootSessionFact } from '../../rack/boot/fact.ts';
import { clockFact } from '../../rack/clock/fact.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';

/** A Mac that has a power outlet in the file. */
export interface NodeWithOutlet extends DesiredNode {
  readonly outlet: DesiredOutlet;
}

/** The Macs that may lose power: those with an outlet and without a hold in the file. */
export const nodesWithOutlet = ({ nodes }: DesiredFleet): readonly NodeWithOutlet[] =>
  nodes.flatMap(({ outlet, ...node }) =>
    outlet === undefined || (node.hold !== undefined && node.hold.isOver !== true) ? [] : [{ ...node, outlet }],
  );

/** True without an answer, or if an answer may follow soon. A Mac that only refuses the login answers. */
export const isSilent = ({ failures }: FleetObservation, node: NodeName): boolean =>
  (failures[node] ?? []).some((one) => hasTrait(one, 'looks-off') || hasTrait(one, 'passing'));

/**
 * What is wrong while the outlet of this Mac is off: the Mac still answers, or others have lost their power. Undefined
 * if only this Mac is dark. `before` was observed while the outlet was still on.
 */
export function darkProblem(
  { name, outlet }: Pick<NodeWithOutlet, 'name' | 'outlet'>,
  { before, now }: { readonly before: FleetObservation; readonly now: FleetObservation },
  nodes: readonly NodeName[],
): Diagnostic | undefined {
  const dark = nodes.filter((node) => node !== name && !isSilent(before, node) && isSilent(now, node));
  const answers = !isSilent(now, name);
  if (dark.length === 0 && !answers) return undefined;
  const lost = prose`${namedList(dark)} stopped answering`;
  const still = prose`${named(name)} still answered`;
  const what = dark.length === 0 ? still : answers ? prose`${still} and ${lost}` : lost;
  const hint = `Find out at the rack which Mac is plugged into ${outlet.name}, and correct \`outlet\` of ${listText([name, ...dark])} in cluster.yaml.`;
  const detail = prose`While outlet ${outlet.name} was off, ${what}. The file gives this outlet to ${named(name)}.`;
  return diagnose('outlet/wrong-mac', { subject: nodeSubject(name), detail, hint });
}

/** Whether a Mac booted after a moment on this computer's clock; undefined if its clock or boot time is unknown. */
export function hasBootedSince(observation: FleetObservation, node: NodeName, epochMs: number): boolean | undefined {
  const facts = observation.nodes[node]?.facts;
  const session = read(facts, bootSessionFact);
  const clock = read(facts, clockFact);
  if (session?.kind !== 'known' || clock?.kind !== 'known') return undefined;
  const bootedAtMs = session.value.bootedAtEpochSeconds * 1_000 - clock.value.offsetMs;
  // The boot time has no fractions of a second.
  return bootedAtMs + 1_000 + clock.value.uncertaintyMs >= epochMs;
}
