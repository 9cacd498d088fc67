import type { DesiredDownloads, ListedPackage, PackageSource, Release } from '../model/desired.ts';
import { mirrored } from './mirror.ts';

const form = /^github:([A-Za-z0-9-]+\/[A-Za-z0-9._-]+)@([0-9a-f]{40})$/;

/** Reads `github:owner/name@COMMIT`; undefined for a branch, a tag or an abbreviated commit, which can move. */
export function packageSource(text: string): PackageSource | undefined {
  const [, repository, commit] = form.exec(text) ?? [];
  return repository === undefined || commit === undefined ? undefined : { repository, commit };
}

/** The first digits of a commit, as people read it. */
export const shortCommit = ({ commit }: PackageSource): string => commit.slice(0, 12);

/** `github:owner/name@COMMIT`, as in the file. */
export const sourceText = ({ repository, commit }: PackageSource): string => `github:${repository}@${commit}`;

/** `mlx-lm 0.32.0`, or `mlx-lm from acme/mlx-lm at 0123456789ab`. */
export const packageText = ({ name, version = '', source }: Omit<ListedPackage, 'python'>): string =>
  source === undefined ? `${name} ${version}` : `${name} from ${source.repository} at ${shortCommit(source)}`;

/** The archive's name among the files of its runtime in the lock. No name on GitHub has a plus sign. */
export const sourceFile = ({ repository, commit }: PackageSource): string =>
  `${repository.replace('/', '+')}+${commit}.tar.gz`;

/**
 * The archive of a commit. GitHub makes it when it is asked for, and reports no digest.
 *
 * @see GitHub Docs, "Downloading source code archives": its bytes can change, which has happened once, in January 2023
 */
export function sourceRelease({ repository, commit }: PackageSource, downloads: DesiredDownloads | undefined): Release {
  const url = `https://github.com/${repository}/archive/${commit}.tar.gz`;
  return { url, from: mirrored(url, downloads), ...(downloads?.plainHttp ? { plainHttp: true } : {}) };
}
