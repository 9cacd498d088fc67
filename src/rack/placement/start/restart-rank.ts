import type { Configured, RankConfiguration } from '../../../drivers/configure-placement.ts';
import type { Step } from '../../../model/step.ts';
import { isRunning, type SeenMember } from '../members/member.ts';
import type { Mesh } from '../state/judge-mesh.ts';
import { kickRanks, type MeshStart } from './kick-ranks.ts';

/**
 * The ranks that can be started again beside those that run: the mesh is partial, all of it is of one start and of
 * this very file, and launchd still has every dead rank loaded. Empty when the whole mesh has to be made anew.
 *
 * @param configured for the generation that runs
 */
export function ranksToRestart(mesh: Mesh, configured: Configured): readonly RankConfiguration[] {
  if (mesh.state !== 'partial') return [];
  const dead: RankConfiguration[] = [];
  for (const [index, { seen }] of mesh.members.entries()) {
    const rank = configured.ranks[index];
    if (rank === undefined || seen.kind === 'unknown' || !isOf(seen.value, rank, configured)) return [];
    if (seen.value.state === 'exited' || seen.value.state === 'ready') dead.push(rank);
    else if (!isRunning(seen.value)) return [];
  }
  return dead;
}

const isOf = ({ record }: SeenMember, rank: RankConfiguration, { digest }: Configured): boolean =>
  record?.generation === rank.record.generation && record.digest === digest;

/**
 * Starts the dead ranks again in the generation that runs, sees all joined and asks for a token. launchd may hold a
 * rank back that it started seconds ago, and it shows as exited until then: only the exit of another one ends the wait.
 *
 * @see launchd.plist(5): ThrottleInterval
 */
export const restartRanks = (start: Omit<MeshStart, 'watched'>, dead: readonly RankConfiguration[]): readonly Step[] =>
  kickRanks(
    { ...start, watched: start.ranks.filter((rank) => !dead.includes(rank)) },
    [{ ranks: dead, until: 'joined' }],
    [],
  );
