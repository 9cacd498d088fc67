import type { DesiredDownloads, HubSource, ModelSource } from '../model/desired.ts';
import { given } from '../model/given.ts';
import { mirrored } from './mirror.ts';

/** The host of Hugging Face. @see https://huggingface.co/docs/hub/api */
const hubOrigin = 'https://huggingface.co';

/** Parses `hf:organization/name@revision`; undefined for other sources. */
export function hubSource(text: string, include?: readonly string[]): HubSource | undefined {
  const [, repository, revision = 'main'] = /^hf:([^@]+)(?:@(.+))?$/.exec(text) ?? [];
  if (repository === undefined) return undefined;
  return { text: [text, ...(include ?? [])].join(' '), repository, revision, ...given({ include }) };
}

/** True if a revision names one commit, which cannot move. */
export const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision);

/** Each part is encoded for a URL; slashes separate parts. */
export const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

export const revisionUrl = ({ repository, revision }: Pick<HubSource, 'repository' | 'revision'>): string =>
  `${hubOrigin}/api/models/${repository}/revision/${encodeURIComponent(revision)}`;

export const treeUrl = (repository: string, commit: string): string =>
  `${hubOrigin}/api/models/${repository}/tree/${commit}?recursive=true&expand=false`;

const commitUrl = (repository: string, commit: string): string => `${hubOrigin}/${repository}/resolve/${commit}/`;

export const fileUrl = (repository: string, commit: string, path: string): string =>
  `${commitUrl(repository, commit)}${encodedPath(path)}`;

export function commitSource(
  repository: string,
  commit: string,
  downloads: DesiredDownloads = {},
): Extract<ModelSource, { readonly kind: 'url' }> {
  const { plainHttp, token } = downloads;
  return {
    kind: 'url',
    base: mirrored(commitUrl(repository, commit), downloads),
    ...given({ plainHttp }),
    ...(token === undefined ? {} : { secret: true }),
  };
}

/** The files that runtimes read: configuration, tokenizer, templates, code and weights. */
const readByRuntimes = /(?:^|\/)[^./][^/]*\.(?:json|jsonl|jinja|txt|model|tiktoken|py|safetensors|gguf)$/;

export function isIncluded(path: string, include: readonly string[] | undefined): boolean {
  return include === undefined ? readByRuntimes.test(path) : include.some((pattern) => patternForm(pattern).test(path));
}

/** As on Hugging Face, `*` also matches slashes. */
const patternForm = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  );

/** The GGUF versions among some files: their names without the numbers of their parts, sorted. */
export const ggufVersions = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.flatMap((path) => /^(.+?)(?:-\d{5}-of-\d{5})?\.gguf$/.exec(path)?.[1] ?? []))].toSorted();
