import type { JobArgs, ScriptArgs, TreeFile, TreeId } from '../../../model/node-script.ts';
import type { NodePath } from '../../../model/probe.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import { below, place } from '../../../node/paths/node-paths.ts';
import {
  sealName,
  stagedArchive,
  stagedList,
  stagedSource,
  stagedWheel,
  stagingFolder,
  stagingName,
  treeFolder,
  versionsFolder,
} from '../../../node/paths/own-paths.ts';
import { sh as models } from '../models/scripts.generated.ts';
import { peerValues } from '../peers/peer-scripts.ts';
import { sh as runtimes } from '../runtimes/scripts.generated.ts';
import { sh as sources } from '../sources/scripts.generated.ts';
import { sh as trees } from './scripts.generated.ts';

const sh = { ...models, ...runtimes, ...sources, ...trees };

/**
 * Returns a name of this form; anything else is refused, because a folder with this name is deleted.
 * @throws Error for any other form, which is a bug
 */
const checked = (name: string, form: RegExp, what: string): string => {
  if (!form.test(name)) throw new Error(`${name} is not a ${what}`);
  return name;
};

const jobKey = (key: string): string => checked(key, /^[0-9a-f]{64}$/, 'key of a job');

const ofTree = (tree: TreeId) => ({ staging: stagingFolder(tree), digest: tree.digest });

const ofFiles = (tree: TreeId, files: readonly TreeFile[]) => ({
  ...ofTree(tree),
  paths: files.map(({ path }) => path).join('\n'),
  total: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
});

export const fetchModel = ({ tree, files, source, peers }: JobArgs['fetch-model']): string => {
  const url = source.kind === 'url' ? source : undefined;
  const nameOf = (path: string) => (url ? path.split('/').map(encodeURIComponent).join('/') : path);
  return sh.fetchModel(
    {
      ...refusalValues,
      ...ofFiles(tree, files),
      ...peerValues(tree, files, peers),
      base: url?.base ?? '',
      folder: source.kind === 'folder' ? source.folder : '',
      account: url?.account ?? '',
      protocols: url?.plainHttp ? '=http,https' : '=https',
      secret: url?.secret === true,
      withheld: url?.isWithheld === true,
      rate: url?.maxBytesPerSecond ?? '',
      volume: place.dataVolume,
    },
    files.flatMap(({ path, sha256, sizeBytes }) => [path, sha256, String(sizeBytes), nameOf(path)]),
  );
};

export const fetchArchive = ({ archive, ...args }: JobArgs['fetch-archive']): string =>
  sh.fetchArchive(ofDownload(stagedArchive(args.tree, archive), args));

/** Fetches the archive of a commit into staging, with the script of `fetch-archive`. */
export const fetchSource = (args: JobArgs['fetch-source']): string =>
  sh.fetchArchive(ofDownload(stagedSource(args.tree), args));

function ofDownload({ path }: NodePath, { tree, ...args }: JobArgs['fetch-source']) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return {
    ...refusalValues,
    ...ofTree(tree),
    archive: name,
    paths: name,
    total: args.sizeBytes,
    sha256: args.sha256,
    url: args.url,
    account: args.account ?? '',
    secret: false,
    rate: '',
    receives: false,
    protocols: args.plainHttp ? '=http,https' : '=https',
    volume: place.dataVolume,
  };
}

export const adoptModel = ({ tree, files, folder, fence, isShared }: JobArgs['adopt-model']): string =>
  sh.adoptModel(
    { ...ofFiles(tree, files), folder, fence, shared: isShared === true },
    files.flatMap(({ path, sha256, sizeBytes, from }) => [path, sha256, String(sizeBytes), from]),
  );

/** The longest time without a byte from the controller, in tenths of a second, before a job gives up. */
const mostStillTenths = 3_000;

export const verifyModel = ({ tree, files, peers }: JobArgs['verify-model']): string => {
  const { receives: _, ...values } = peerValues(tree, files, peers);
  return sh.verifyModel(
    { ...refusalValues, ...values, ...ofFiles(tree, files), tenths: mostStillTenths },
    files.flatMap(({ path, sha256, sizeBytes }) => [path, sha256, String(sizeBytes)]),
  );
};

export const rehashModel = ({ tree, files }: JobArgs['rehash-model']): string =>
  sh.rehashModel(
    { published: treeFolder(tree), seal: sealName, total: ofFiles(tree, files).total },
    files.flatMap(({ path, sha256, sizeBytes }) => [path, sha256, String(sizeBytes)]),
  );

export const listFolder = ({ folder, most }: JobArgs['list-folder']): string => sh.listFolder({ folder, most });

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

export const prepareStaging = ({ tree, user }: ScriptArgs['prepare-staging']): string =>
  sh.prepareStaging({ ...ofTree(tree), user });

export const publishTree = ({ tree, jobs }: ScriptArgs['publish-tree']): string =>
  sh.publishTree({ ...ofTree(tree), published: treeFolder(tree), is_model: tree.kind === 'model' }, jobs.map(jobKey));

export const clearStaging = ({ folders, jobs }: ScriptArgs['clear-staging']): string =>
  sh.clearStaging({ opt: place.opt }, [
    ...folders.map((one) => checked(one, /^(?:runtime|model)-[A-Za-z0-9._-]{1,255}-[0-9a-f]{16}$/, 'staging folder')),
    ...jobs.map(jobKey),
  ]);

export const switchRuntime = ({ tree, programs }: ScriptArgs['switch-runtime']): string =>
  sh.switchRuntime({ version: treeFolder(tree) }, programs ?? []);

const versionOf = (one: string): string => checked(one, /^[0-9a-f]{16,64}$/, 'digest of a version').slice(0, 16);

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
