import type { JobArgs } from '../../../model/node-script.ts';
import type { NodePath } from '../../../model/probe.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import { place } from '../../../node/paths/node-paths.ts';
import { stagedArchive, stagedSource } from '../../../node/paths/own-paths.ts';
import { peerValues } from '../peers/peer-scripts.ts';
import { ofFiles, ofTree } from '../trees/tree-scripts.ts';
import { sh } from './scripts.generated.ts';

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

export const listFolder = ({ folder, most }: JobArgs['list-folder']): string => sh.listFolder({ folder, most });
