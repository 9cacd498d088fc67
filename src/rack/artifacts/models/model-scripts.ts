import type { JobArgs, ScriptArgs } from '../../../model/node-script.ts';
import { below, place } from '../../../node/paths/node-paths.ts';
import { sealName, treeFolder, versionsFolder } from '../../../node/paths/own-paths.ts';
import { ofFiles, versionOf } from '../trees/tree-scripts.ts';
import { sh } from './scripts.generated.ts';

export const rehashModel = ({ tree, files }: JobArgs['rehash-model']): string =>
  sh.rehashModel(
    { published: treeFolder(tree), seal: sealName, total: ofFiles(tree, files).total },
    files.flatMap(({ path, sha256, sizeBytes }) => [path, sha256, String(sizeBytes)]),
  );

export const removeModelVersions = ({ name, digests }: ScriptArgs['remove-model-versions']): string =>
  sh.removeModelVersions(
    { models: below(place.opt, 'models'), versions: versionsFolder({ kind: 'model', name }), seal: sealName },
    digests.map(versionOf),
  );
