import { shortCommit, sourceRelease } from '../../../desired/package-source.ts';
import type { BuiltProgram, DesiredFleet, PackageSource } from '../../../model/desired.ts';
import { given } from '../../../model/given.ts';
import type { Step } from '../../../model/step.ts';
import { buildStep } from '../../build-step.ts';
import { fetchSteps } from '../sources/fetch-steps.ts';
import { jobAct, prepareStep, type TreeWork } from '../trees/tree-steps.ts';
import { buildDeadlineMs, digestIn } from './supply-runtime.ts';

/** A built archive has at most this many bytes. The release b10950, which has more programs, has 11 MB. */
export const mostArchiveBytes = 67_108_864;

export function fetchSource(
  work: TreeWork,
  source: PackageSource,
  { system, downloads }: DesiredFleet,
  needs: readonly Step[],
): readonly Step[] {
  const { sizeBytes = 0 } = source;
  const release = sourceRelease(source, downloads);
  const bytes = { kind: 'release', release, sha256: sourceDigest(source), sizeBytes } as const;
  return fetchSteps(work, bytes, { account: system.accounts.ranks, needs });
}

/** @throws Error if the fleet was not settled, which is a bug. */
export const sourceDigest = ({ repository: name, sha256 }: PackageSource) => digestIn({ name, ...given({ sha256 }) });

export function archiveSteps(work: TreeWork, { source }: BuiltProgram, fleet: DesiredFleet): readonly Step[] {
  const { property, tree } = work;
  const prepare = prepareStep(work);
  const fetch = fetchSource(work, source, fleet, [prepare]);
  const args = {
    tree,
    sha256: sourceDigest(source),
    commit: shortCommit(source),
    account: fleet.system.accounts.ranks ?? '',
    mostBytes: mostArchiveBytes,
  };
  const build = buildStep({
    name: `${property.address}/build`,
    class: 'job',
    act: jobAct(tree, { name: 'build-archive', args }),
    towards: [property],
    needs: fetch,
    deadlineMs: buildDeadlineMs,
  });
  return [prepare, ...fetch, build];
}
