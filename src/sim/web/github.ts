import { tarGz } from '../doubles/tar-gz.ts';
import type { Site, WebAnswer } from './web-server.ts';

const githubHost = 'github.com';
const codeHost = 'codeload.github.com';

const notFound: WebAnswer = { status: 404, body: Buffer.from('404: Not Found') };

const file = (path: string, text: string) => ({ path, mode: 0o644, content: Buffer.from(text) });

/**
 * The files of mlx-lm that its build reads. A repository whose name has `broken` lacks `setup.py`.
 *
 * @see mlx-lm at v0.32.0
 */
const filesOf = (name: string, commit: string) => [
  file(`${name}-${commit}/README.md`, `# ${name}\n\nA simulated repository at ${commit}.\n`),
  file(`${name}-${commit}/mlx_lm/__init__.py`, `# ${commit}\n`),
  file(`${name}-${commit}/mlx_lm/_version.py`, '__version__ = "0.32.0"\n'),
  ...(name.includes('broken') ? [] : [file(`${name}-${commit}/setup.py`, 'from setuptools import setup\n')]),
];

/**
 * GitHub's archives of commits. Every name is a repository of mlx-lm with every commit, except for names with `missing`.
 * Codeload ignores ranges.
 *
 * @see GitHub Docs: Downloading source code archives
 */
export function createGithub(): ReadonlyMap<string, Site> {
  const asked: Site = ({ path, urlOf }) => {
    const [, repository, commit] = /^\/([^/]+\/[^/]+)\/archive\/([0-9a-f]{40})\.tar\.gz$/.exec(path) ?? [];
    if (repository === undefined || repository.includes('missing')) return notFound;
    return { status: 302, headers: { location: urlOf(codeHost, `/${repository}/tar.gz/${commit}`) } };
  };
  const sent: Site = ({ path }) => {
    const [, name = '', commit = ''] = /^\/[^/]+\/([^/]+)\/tar\.gz\/([0-9a-f]{40})$/.exec(path) ?? [];
    if (name === '') return notFound;
    return { status: 200, headers: { 'content-type': 'application/x-gzip' }, body: tarGz(filesOf(name, commit)) };
  };
  return new Map([
    [githubHost, asked],
    [codeHost, sent],
  ]);
}
