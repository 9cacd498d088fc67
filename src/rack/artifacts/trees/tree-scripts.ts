import type { JobArgs, ScriptArgs, TreeFile, TreeId } from '../../../model/node-script.ts';
import { below, place } from '../../../node/paths/node-paths.ts';
import { sealName, stagingFolder, treeFolder, versionsFolder } from '../../../node/paths/own-paths.ts';
import { sh } from './scripts.generated.ts';

/**
 * Returns a name of this form; anything else is refused, because a folder with this name is deleted.
 * @throws Error for any other form, which is a bug
 */
const checked = (name: string, form: RegExp, what: string): string => {
  if (!form.test(name)) throw new Error(`${name} is not a ${what}`);
  return name;
};

const jobKey = (key: string): string => checked(key, /^[0-9a-f]{64}$/, 'key of a job');

export const ofTree = (tree: TreeId) => ({ staging: stagingFolder(tree), digest: tree.digest });

export const ofFiles = (tree: TreeId, files: readonly TreeFile[]) => ({
  ...ofTree(tree),
  paths: files.map(({ path }) => path).join('\n'),
  total: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
});

export const prepareStaging = ({ tree, user }: ScriptArgs['prepare-staging']): string =>
  sh.prepareStaging({ ...ofTree(tree), user });

export const publishTree = ({ tree, jobs }: ScriptArgs['publish-tree']): string =>
  sh.publishTree({ ...ofTree(tree), published: treeFolder(tree), is_model: tree.kind === 'model' }, jobs.map(jobKey));

export const clearStaging = ({ folders, jobs }: ScriptArgs['clear-staging']): string =>
  sh.clearStaging({ opt: place.opt }, [
    ...folders.map((one) => checked(one, /^(?:runtime|model)-[A-Za-z0-9._-]{1,255}-[0-9a-f]{16}$/, 'staging folder')),
    ...jobs.map(jobKey),
  ]);

const versionOf = (one: string): string => checked(one, /^[0-9a-f]{16,64}$/, 'digest of a version').slice(0, 16);

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

export const removeRuntimeVersions = ({ name, digests }: ScriptArgs['remove-runtime-versions']): string =>
  sh.removeRuntimeVersions(
    { opt: place.opt, versions: versionsFolder({ kind: 'runtime', name }) },
    digests.map(versionOf),
  );
