import type { ClusterSpec } from '../model/cluster-spec.generated.ts';
import type { Release, RuntimeSource } from '../model/desired.ts';
import { type Digest, digest, jsonObject, parsedJson } from '../model/digest.ts';
import { given } from '../model/given.ts';
import { mirrored } from './mirror.ts';

/** An archive before the file's downloads settings apply. */
export type PublishedArchive = Pick<Release, 'url' | 'page' | 'known'>;

/** The releases of a program: each version has one archive, whose URL follows from the version. */
export interface Releases {
  /** The form of a version, and one as an example. */
  readonly form: RegExp;
  readonly example: string;
  archive(version: string): PublishedArchive;
}

/**
 * A file of a GitHub release. GitHub computes its digest when the file is uploaded.
 *
 * @see GitHub REST API, "Get a release by tag name": `assets[].digest` is `sha256:…`, or null for older files
 */
export const githubArchive = (repository: string, tag: string, name: string): PublishedArchive => ({
  url: `https://github.com/${repository}/releases/download/${tag}/${name}`,
  page: { kind: 'github', url: `https://api.github.com/repos/${repository}/releases/tags/${tag}`, name },
});

/** Adds the digest of a known release. Without one, the release page is asked. */
export const withKnown = (
  archive: PublishedArchive,
  known: Readonly<Record<string, readonly [sha256: string, sizeBytes?: number]>>,
): PublishedArchive => {
  const [sha256, sizeBytes] = known[archive.url] ?? [];
  return sha256 === undefined ? archive : { ...archive, known: { sha256: digest(sha256), ...given({ sizeBytes }) } };
};

/** The Node.js of a gateway for which the file sets none. */
export const defaultNode = '22.22.0';

/**
 * Node.js for macOS.
 *
 * @see https://nodejs.org/dist/v22.22.0/: every version has a folder with its archives and `SHASUMS256.txt`
 */
export const nodeReleases: Releases = {
  form: /^[0-9]{2}\.[0-9]{1,3}\.[0-9]{1,3}$/,
  example: defaultNode,
  archive: (version) => {
    const folder = `https://nodejs.org/dist/v${version}`;
    const name = `node-v${version}-darwin-arm64.tar.gz`;
    const page = { kind: 'shasums', url: `${folder}/SHASUMS256.txt`, name } as const;
    return withKnown({ url: `${folder}/${name}`, page }, knownNodes);
  },
};

const knownNodes = {
  'https://nodejs.org/dist/v22.22.0/node-v22.22.0-darwin-arm64.tar.gz': [
    '5ed4db0fcf1eaf84d91ad12462631d73bf4576c1377e192d222e48026a902640',
  ],
} as const;

/** True for an archive that nodes download. */
export const isUrl = (archive: string): boolean => archive.startsWith('https://');

/** A runtime's archive: the file's, otherwise that of its version; without either, its path is empty. */
export function archiveOf(
  archive: string | undefined,
  published: PublishedArchive | undefined,
  downloads: ClusterSpec['downloads'],
): Pick<RuntimeSource, 'archive' | 'release'> {
  if (archive !== undefined && !isUrl(archive)) return { archive };
  const source = archive === undefined ? published : { url: archive };
  if (source === undefined) return { archive: '' };
  const { page } = source;
  const release: Release = {
    ...source,
    from: mirrored(source.url, downloads),
    ...given({ page: page && { ...page, url: mirrored(page.url, downloads) } }),
    ...(downloads?.plainHttp === 'allowed' ? { plainHttp: true } : {}),
  };
  return { archive: source.url, release };
}

/** `1.0.71`, from the URL of a release; for other URLs, the URL itself. */
export const releaseName = (url: string): string =>
  /\/releases\/download\/v?([^/]+)\/[^/]+$/.exec(url)?.[1] ??
  /^https:\/\/nodejs\.org\/dist\/v([^/]+)\//.exec(url)?.[1] ??
  url;

/** An archive on its release page; `missing` lists the files that the page has. */
export type PageEntry =
  | { readonly kind: 'found'; readonly sha256?: Digest; readonly sizeBytes?: number }
  | { readonly kind: 'missing'; readonly files: readonly string[] }
  | { readonly kind: 'garbled' };

export const pageEntry = (
  { kind, name }: Pick<NonNullable<Release['page']>, 'kind' | 'name'>,
  text: string,
): PageEntry => (kind === 'github' ? githubEntry(text, name) : shasumsEntry(text, name));

function githubEntry(text: string, name: string): PageEntry {
  const assets: unknown = jsonObject(parsedJson(text))?.['assets'];
  if (!Array.isArray(assets)) return { kind: 'garbled' };
  const files = assets.flatMap((asset: unknown): Readonly<Record<string, unknown>>[] => {
    const file = jsonObject(asset);
    return file === undefined ? [] : [file];
  });
  const file = files.find((one) => one['name'] === name);
  if (file === undefined) return { kind: 'missing', files: files.map((one) => String(one['name'])) };
  const size = file['size'];
  const [, sha256] = /^sha256:([0-9a-f]{64})$/.exec(String(file['digest'])) ?? [];
  return {
    kind: 'found',
    ...given({
      sha256: sha256 === undefined ? undefined : digest(sha256),
      sizeBytes: typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? size : undefined,
    }),
  };
}

/** Lines such as `5ed4db0f…  node-v22.22.0-darwin-arm64.tar.gz`. */
function shasumsEntry(text: string, name: string): PageEntry {
  const lines = text.split('\n').flatMap((line) => {
    const [, sha256, file] = /^([0-9a-f]{64}) [ *](\S+)$/.exec(line) ?? [];
    return sha256 === undefined || file === undefined ? [] : [{ sha256, file }];
  });
  if (lines.length === 0) return { kind: 'garbled' };
  const found = lines.find(({ file }) => file === name);
  if (found === undefined) return { kind: 'missing', files: lines.map(({ file }) => file) };
  return { kind: 'found', sha256: digest(found.sha256) };
}
