import type { JobArgs, ScriptArgs } from '../../../model/node-script.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import { below, cmakeFolders, place, programFolders } from '../../../node/paths/node-paths.ts';
import {
  stagedArchive,
  stagedBuild,
  stagedList,
  stagedSource,
  stagedWheel,
  stagingFolder,
  stagingName,
  treeFolder,
} from '../../../node/paths/own-paths.ts';
import { ofTree } from '../trees/tree-scripts.ts';
import { sh } from './scripts.generated.ts';

const ofArchive = ({ tree, archive, sha256 }: Omit<JobArgs['unpack-runtime'], 'extras'>) => ({
  ...ofTree(tree),
  archive: stagedArchive(tree, archive),
  sha256,
});

const extraWords = ({ extras }: JobArgs['unpack-runtime']) => extras.flatMap(({ name, sha256 }) => [name, sha256]);

export const unpackRuntime = (args: JobArgs['unpack-runtime']): string =>
  sh.unpackRuntime({ ...ofArchive(args), bin_has: args.binHas ?? '', extras: args.extras.length }, [
    ...extraWords(args),
    ...(args.programs ?? []),
  ]);

type UvArgs = Pick<JobArgs['list-packages'], 'tree' | 'python' | 'account' | 'index' | 'pythons'>;

const ofUv = ({ tree, python, account, index, pythons }: UvArgs) => ({
  ...refusalValues,
  python,
  account,
  builds: below(place.builds, stagingName(tree)),
  index: index ?? '',
  pythons: pythons ?? '',
});

export const buildPython = ({ isOffline, wheel, ...args }: JobArgs['build-python']): string =>
  sh.buildPython(
    {
      ...ofUv(args),
      ...ofArchive(args),
      offline: isOffline,
      built: wheel?.extra ?? '',
      wheel: wheel?.name ?? '',
      published: treeFolder(args.tree),
    },
    extraWords(args),
  );

export const listPackages = ({ wanted, source, mostBytes, ...args }: JobArgs['list-packages']): string =>
  sh.listPackages({
    ...ofUv(args),
    ...ofArchive(args),
    wanted,
    most: mostBytes,
    list: stagedList(args.tree),
    source: stagedSource(args.tree),
    source_digest: source?.sha256 ?? '',
    stem: wanted.replaceAll('-', '_'),
    wheel: stagedWheel(args.tree),
    most_wheel: source?.mostBytes ?? 0,
  });

export const switchRuntime = ({ tree, programs }: ScriptArgs['switch-runtime']): string =>
  sh.switchRuntime({ version: treeFolder(tree) }, programs ?? []);

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
