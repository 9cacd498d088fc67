import type { Step } from '../model/step.ts';
import type { RankConfiguration } from '../runtimes/configure-placement.ts';
import type { StartOrder } from '../runtimes/driver.ts';
import { serviceFile } from '../script/rank-paths.ts';
import { kickRanks, type MeshStart, rankGate, startEffect } from './kick-ranks.ts';
import { type MeshWork, meshStep, rankPatch, scriptAct } from './mesh-step.ts';

/** launchd refuses a service file that others may write. @see launchd.plist(5) */
const serviceFileMode = 0o644;
const putDeadlineMs = 30_000;
const bootstrapDeadlineMs = 60_000;
const readyDeadlineMs = 30_000;

/** Brings the service file of members to their nodes; nothing that runs is changed by it. */
export const putServices = (work: MeshWork, ranks: readonly RankConfiguration[]): readonly Step[] =>
  ranks.map(({ node, service }) => putService(work, { node, service }));

/**
 * Brings one service file. It is in no group: when it fails, nothing was stopped yet, and the rescue of the group
 * would stop what serves.
 */
export const putService = (
  { placement, nodes, changes }: MeshWork,
  { node, service }: Pick<RankConfiguration, 'node' | 'service'>,
): Step =>
  meshStep(
    { placement, nodes, changes },
    {
      node,
      verb: 'put-service',
      class: 'converge',
      act: { kind: 'put', path: serviceFile(placement), mode: serviceFileMode, content: service },
      needs: [],
      deadlineMs: putDeadlineMs,
    },
  );

/**
 * Makes every member ready and starts none of them before all are; then starts them in their order and asks for a
 * token.
 *
 * @param needs what must be over before a member is made ready
 */
export function startMesh(
  parts: Omit<MeshStart, 'watched'>,
  order: StartOrder,
  needs: readonly Step[],
): readonly Step[] {
  const start: MeshStart = { ...parts, watched: parts.ranks };
  const bootstraps = start.ranks.map((rank) => bootstrapRank(start.work, rank, needs));
  const ready = rankGate(start, {
    verb: 'ready',
    ranks: start.ranks,
    state: 'ready',
    needs: bootstraps,
    deadlineMs: readyDeadlineMs,
  });
  return [...bootstraps, ready, ...kickRanks(start, wavesOf(start.ranks, order), [ready])];
}

const bootstrapRank = (
  work: MeshWork,
  { node, record, request, user }: RankConfiguration,
  needs: readonly Step[],
): Step =>
  meshStep(work, {
    node,
    verb: 'bootstrap',
    class: 'converge',
    act: scriptAct({ name: 'bootstrap-rank', args: { record, request, user } }),
    needs,
    effect: startEffect(work),
    establishes: [rankPatch(work.placement, node, { generation: record.generation, state: 'ready' })],
    deadlineMs: bootstrapDeadlineMs,
  });

function wavesOf(
  [leader, ...followers]: readonly RankConfiguration[],
  order: StartOrder,
): readonly (readonly RankConfiguration[])[] {
  const first = leader === undefined ? [] : [leader];
  const waves = {
    'leader-first': [first, followers],
    'followers-first': [followers, first],
    together: [[...first, ...followers]],
  }[order];
  return waves.filter((wave) => wave.length > 0);
}
