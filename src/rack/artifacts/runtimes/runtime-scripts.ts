import type { JobArgs } from '../../../model/node-script.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import { below, cmakeFolders, place, programFolders } from '../../../node/paths/node-paths.ts';
import { stagedBuild, stagedList, stagedSource, stagingFolder, stagingName } from '../../../node/paths/own-paths.ts';
import { sh } from './scripts.generated.ts';

export const buildArchive = ({ tree, sha256, commit, account, mostBytes }: JobArgs['build-archive']): string =>
  sh.buildArchive(
    {
      ...refusalValues,
      account,
      builds: below(place.builds, stagingName(tree)),
      staging: stagingFolder(tree),
      digest: tree.digest,
      source: stagedSource(tree),
      source_digest: sha256,
      commit,
      most: mostBytes,
      built: stagedBuild(tree),
      list: stagedList(tree),
      cmakes: cmakeFolders.length,
    },
    [...cmakeFolders, ...programFolders],
  );
