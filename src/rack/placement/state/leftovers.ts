import { rankPlacement } from '../../../model/facts/daemons.ts';
import type { Facts } from '../../../model/facts/fact-values.ts';
import { type Known, known } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import type { Step } from '../../../model/step.ts';
import { read } from '../../fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import { isRunning, seeMember } from '../members/member.ts';
import { type MeshWork, meshStep, rankPatch, scriptAct } from '../members/mesh-step.ts';
import { placementsFact } from '../observed/fact.ts';
import { endedByRecord } from '../stop/ended-by-record.ts';
import { type SeenOnNode, stopRanks } from '../stop/stop-mesh.ts';
import { isLate } from './evidence.ts';

const removeDeadlineMs = 30_000;

/** A member that its node keeps and that the file does not have there. */
export interface Leftover extends SeenOnNode {
  readonly placement: string;
}

/**
 * What a node keeps of placements, sorted by name, besides those that it is to have.
 *
 * @param wanted names of the placements that the file puts on this node
 */
export function leftoversOn(node: NodeName, facts: Facts, wanted: readonly string[]): Known<readonly Leftover[]> {
  const placements = read(facts, placementsFact);
  const services = read(facts, servicesFact);
  if (placements.kind === 'unknown') return placements;
  if (services.kind === 'unknown') return services;
  const names = [
    ...placements.value.map(({ placement }) => placement),
    ...services.value.flatMap((service) => rankPlacement(service) ?? []),
  ];
  const found: Leftover[] = [];
  for (const placement of [...new Set(names)].filter((name) => !wanted.includes(name)).toSorted()) {
    const { seen } = seeMember(node, placement, facts);
    if (seen.kind === 'unknown') return seen;
    found.push({ node, placement, seen: seen.value });
  }
  return known(found);
}

/**
 * Whether what is left over of a placement may still answer somebody: it gave a token or only none in time, or it has a
 * process and nobody has seen the leader that could be asked.
 */
function mayAnswer(leftovers: readonly SeenOnNode[]): boolean {
  const isLeaderSeen = leftovers.some(({ seen: { record } }) => record?.rank === 0);
  const isAnswering = leftovers.some(
    ({ seen: { record } }) => record?.token.kind === 'answered' || isLate(record?.token),
  );
  return isAnswering || (!isLeaderSeen && leftovers.some(({ seen }) => isRunning(seen)));
}

/** Takes service files and records away. @param needs what has stopped the members */
export const removeRanks = (
  workOn: (node: NodeName) => MeshWork,
  leftovers: readonly SeenOnNode[],
  needs: readonly Step[],
): readonly Step[] =>
  leftovers.map(({ node }) => {
    const work = workOn(node);
    const { placement } = work;
    return meshStep(work, {
      node,
      verb: 'remove',
      class: 'converge',
      act: scriptAct({ name: 'remove-rank', args: { placement } }),
      needs,
      establishes: [rankPatch(placement, node, { generation: 0, state: 'absent' })],
      deadlineMs: removeDeadlineMs,
    });
  });

/**
 * Ends a placement that the file does not have at all, as the driver wants it that its records are of.
 * @param needs what closes its doors
 */
export function endPlacement(
  workOn: (node: NodeName) => MeshWork,
  leftovers: readonly SeenOnNode[],
  needs: readonly Step[] = [],
): readonly Step[] {
  const endOn = (node: NodeName): MeshWork => endedByRecord(workOn(node), leftovers);
  const stops = stopRanks(endOn, leftovers, { isAnswering: mayAnswer(leftovers), seconds: 0, needs });
  return [...(stops.length === 0 ? [] : needs), ...stops, ...removeRanks(workOn, leftovers, stops)];
}
