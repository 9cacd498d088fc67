import { tarGz } from '../doubles/tar-gz.ts';
import type { ServedAnswer, Site } from './web-server.ts';

const githubHost = 'github.com';
const codeHost = 'codeload.github.com';

const notFound: ServedAnswer = { status: 404, body: Buffer.from('404: Not Found') };

/**
 * The files of mlx-lm that its build reads. A repository whose name has `broken` lacks `setup.py`.
 *
 * @see mlx-lm at v0.32.0
 */
const mlxFiles = (name: string, commit: string): readonly (readonly [path: string, text: string])[] => [
  ['mlx_lm/__init__.py', `# ${commit}\n`],
  ['mlx_lm/_version.py', '__version__ = "0.32.0"\n'],
  ...(name.includes('broken') ? [] : [['setup.py', 'from setuptools import setup\n'] as const]),
];

/** Options of llama.cpp at b10950 that its build sets. */
const options = ['BUILD_SHARED_LIBS', 'GGML_METAL', 'GGML_METAL_EMBED_LIBRARY', 'GGML_RPC', 'LLAMA_OPENSSL'];

/**
 * The files of llama.cpp that the double of CMake reads. A repository whose name has `broken` does not compile. One whose
 * name has `old` has the RPC worker's name from before 2026.
 *
 * @see llama.cpp: tools/rpc/CMakeLists.txt
 */
const llamaFiles = (name: string, commit: string): readonly (readonly [path: string, text: string])[] => [
  ['CMakeLists.txt', `project("llama.cpp" C CXX)\n${options.map((one) => `option(${one} "llama" ON)\n`).join('')}`],
  ['src/llama.cpp', name.includes('broken') ? `// ${commit}\n#error no member named 'moe'\n` : `// ${commit}\n`],
  ['tools/rpc/CMakeLists.txt', `set(TARGET ${name.includes('old') ? 'rpc-server' : 'ggml-rpc-server'})\n`],
  ['tools/server/CMakeLists.txt', 'set(TARGET llama-server)\n'],
];

/** The files of a commit: those of llama.cpp if the repository's name has `llama`, otherwise those of mlx-lm. */
const filesOf = (name: string, commit: string) =>
  [
    ['README.md', `# ${name}\n\nA simulated repository at ${commit}.\n`] as const,
    ...(name.includes('llama') ? llamaFiles(name, commit) : mlxFiles(name, commit)),
  ].map(([path, text]) => ({ path: `${name}-${commit}/${path}`, mode: 0o644, content: Buffer.from(text) }));

/**
 * GitHub's archives of commits. Every name is a repository of mlx-lm or llama.cpp with every commit, except for names
 * with `missing`. Codeload ignores ranges.
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
