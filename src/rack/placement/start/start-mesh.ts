import type { RankConfiguration } from '../../../drivers/configure-placement.ts';
import type { RankFile, StartPhase } from '../../../drivers/contract/driver.ts';
import type { Step } from '../../../model/step.ts';
import { rankFile, serviceFile } from '../../../node/paths/own-paths.ts';
import { type MeshWork, meshStep, rankPatch, scriptAct } from '../members/mesh-step.ts';
import { kickRanks, type MeshStart, rankGate, startEffect, type Wave } from './kick-ranks.ts';

/** launchd refuses a service file that others may write. @see launchd.plist(5) */
const serviceFileMode = 0o644;
const putDeadlineMs = 30_000;
const bootstrapDeadlineMs = 60_000;
const readyDeadlineMs = 30_000;

/** Brings the service file of members to their nodes; nothing that runs is changed by it. */
export const putServices = (work: MeshWork, ranks: readonly RankConfiguration[]): readonly Step[] =>
  ranks.flatMap((rank) => [...putFiles(work, rank), putService(work, rank)]);

/** Brings the files that one rank reads. They are of the next start: those of a rank that runs were read by it before. */
const putFiles = ({ placement, nodes, changes }: MeshWork, { node, files }: RankConfiguration): readonly Step[] =>
  files.flatMap((file) =>
    file.kind !== 'file'
      ? []
      : meshStep(
          { placement, nodes, changes },
          {
            node,
            verb: `put/${file.name}`,
            class: 'converge',
            act: { kind: 'put', path: rankFile(placement, file.name), mode: serviceFileMode, content: file.content },
            needs: [],
            deadlineMs: putDeadlineMs,
          },
        ),
  );

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
  phases: readonly StartPhase[],
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
  return [...bootstraps, ready, ...kickRanks(start, wavesOf(start.ranks, phases), [ready])];
}

const bootstrapRank = (
  work: MeshWork,
  { node, record, request, user, files }: RankConfiguration,
  needs: readonly Step[],
): Step =>
  meshStep(work, {
    node,
    verb: 'bootstrap',
    class: 'converge',
    act: scriptAct({ name: 'bootstrap-rank', args: { record, request, user, ...filesOf(files) } }),
    needs,
    effect: startEffect(work),
    establishes: [rankPatch(work.placement, node, { generation: record.generation, state: 'ready' })],
    deadlineMs: bootstrapDeadlineMs,
  });

const filesOf = (all: readonly RankFile[]) => ({
  files: all.flatMap((file) => (file.kind === 'file' ? [file.name] : [])),
  links: all.flatMap((file) => (file.kind === 'link' ? [{ name: file.name, to: file.to }] : [])),
  folders: all.flatMap((file) => (file.kind === 'folder' ? [{ name: file.name, keeps: file.keeps }] : [])),
});

function wavesOf(ranks: readonly RankConfiguration[], phases: readonly StartPhase[]): readonly Wave[] {
  const [leader, ...followers] = ranks;
  const members = { all: ranks, leader: leader === undefined ? [] : [leader], followers };
  return phases
    .map((phase) => ({ ranks: members[phase.ranks], until: phase.until }))
    .filter((wave) => wave.ranks.length > 0);
}
