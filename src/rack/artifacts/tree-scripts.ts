import type { ScriptArgs, TreeId } from '../../model/node-script.ts';
import { place } from '../../node/paths/node-paths.ts';
import { stagingFolder, treeFolder, versionsFolder } from '../../node/paths/tree-paths.ts';
import { sh } from './scripts.generated.ts';

/** @throws Error when it is none, which is our own value: a folder of its name is deleted */
const checked = (name: string, form: RegExp, what: string): string => {
  if (!form.test(name)) throw new Error(`${name} is no ${what}`);
  return name;
};

const jobKey = (key: string): string => checked(key, /^[0-9a-f]{64}$/, 'key of a job');

const ofTree = (tree: TreeId) => ({ staging: stagingFolder(tree), digest: tree.digest });

export const prepareStaging = ({ tree, user }: ScriptArgs['prepare-staging']): string =>
  sh.prepareStaging({ ...ofTree(tree), user });

export const publishTree = ({ tree, jobs }: ScriptArgs['publish-tree']): string =>
  sh.publishTree({ ...ofTree(tree), published: treeFolder(tree) }, jobs.map(jobKey));

export const clearStaging = ({ folders, jobs }: ScriptArgs['clear-staging']): string =>
  sh.clearStaging({ opt: place.opt }, [
    ...folders.map((one) => checked(one, /^(?:runtime|model)-[A-Za-z0-9._-]{1,255}-[0-9a-f]{16}$/, 'staging folder')),
    ...jobs.map(jobKey),
  ]);

export const switchRuntime = ({ tree, programs }: ScriptArgs['switch-runtime']): string =>
  sh.switchRuntime({ version: treeFolder(tree) }, programs ?? []);

export const removeRuntimeVersions = ({ name, digests }: ScriptArgs['remove-runtime-versions']): string =>
  sh.removeRuntimeVersions(
    { opt: place.opt, versions: versionsFolder({ kind: 'runtime', name }) },
    digests.map((one) => checked(one, /^[0-9a-f]{16,64}$/, 'digest of a version').slice(0, 16)),
  );
