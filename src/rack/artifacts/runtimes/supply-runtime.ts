import { mirrored } from '../../../desired/mirror.ts';
import type { DesiredFleet, DesiredGateway, DesiredRuntime } from '../../../model/desired.ts';
import type { Digest } from '../../../model/digest.ts';
import type { JobArgs, TreeId, UvMirror } from '../../../model/node-script.ts';
import { stagedArchive, stagedExtra } from '../../../node/paths/own-paths.ts';
import { sendStep } from '../sources/controller-source.ts';
import { fetchSteps } from '../sources/fetch-steps.ts';
import { prepareStep, type TreeWork } from '../trees/tree-steps.ts';

export type Program = DesiredRuntime | DesiredGateway;

function archiveFormat(path: string): JobArgs['unpack-runtime']['archive'] {
  if (path.endsWith('.zip')) return 'zip';
  if (path.endsWith('.dmg')) return 'dmg';
  return path.endsWith('.tar.xz') ? 'tar.xz' : 'tar.gz';
}

/** @throws Error if the fleet was not settled, which is a bug. */
export function digestIn({ name, sha256 }: Pick<Program, 'name' | 'sha256'>): Digest {
  if (sha256 === undefined) throw new Error(`the digest of ${name} is not settled`);
  return sha256;
}

/** The files of a runtime that this computer sends, with their destinations; `name` is the name of the step. */
function sentFiles(runtime: Program, tree: TreeId, format: JobArgs['unpack-runtime']['archive']) {
  const extras = runtime.extras.map((extra) => ({
    name: `send/${extra.name}`,
    source: extra.source,
    to: stagedExtra(tree, extra.name),
    sha256: digestIn(extra),
    sizeBytes: extra.sizeBytes ?? 0,
  }));
  const { archive: source, release, sizeBytes = 0 } = runtime;
  if (release !== undefined) return extras;
  return [{ name: 'send', source, to: stagedArchive(tree, format), sha256: digestIn(runtime), sizeBytes }, ...extras];
}

/** A node that downloads packages reports no progress. */
export const buildDeadlineMs = 1_800_000;

const pypi = 'https://pypi.org/simple';
const pythonReleases = 'https://github.com/astral-sh/python-build-standalone/releases/download';

/** A mirror replaces the hosts of uv, too. */
export const uvMirror = ({ downloads }: DesiredFleet): UvMirror =>
  downloads?.mirror === undefined
    ? {}
    : { index: mirrored(pypi, downloads), pythons: mirrored(pythonReleases, downloads) };

/** The steps that bring a runtime's archive and other files to a node; `last` are those that a job waits for. */
export function supplySteps(work: TreeWork, runtime: Program, fleet: DesiredFleet) {
  const { tree } = work;
  const prepare = prepareStep(work);
  const format = archiveFormat(runtime.archive);
  const sends = sentFiles(runtime, tree, format).map((file) => sendStep(work, file, [prepare]));
  const { release, sizeBytes = 0 } = runtime;
  if (release === undefined) return { format, steps: [prepare, ...sends], last: sends };
  const bytes = { kind: 'release', release, format, sha256: digestIn(runtime), sizeBytes } as const;
  const fetch = fetchSteps(work, bytes, { account: fleet.system.accounts.ranks, needs: [prepare, ...sends] });
  return { format, steps: [prepare, ...sends, ...fetch], last: fetch };
}
