import { githubArchive, type Releases, withKnown } from '../../desired/releases.ts';

const repository = 'ggml-org/llama.cpp';

/** Releases before this one are zip archives. */
const firstTarGz = 7_800;

/**
 * llama.cpp for macOS on arm64. Everything is in one folder, `llama-TAG`. A tag is `b` with the number of the build, or
 * `v0.` with the number of a stable release.
 */
export const llamaReleases: Releases = {
  form: /^(?:b[1-9][0-9]{2,5}|v[0-9]{1,3}\.[0-9]{1,4}(?:\.[0-9]{1,4})?)$/,
  example: 'b10950',
  archive: (tag) => {
    const format = tag.startsWith('b') && Number(tag.slice(1)) < firstTarGz ? 'zip' : 'tar.gz';
    return withKnown(githubArchive(repository, tag, `llama-${tag}-bin-macos-arm64.${format}`), known);
  },
};

const known = {
  'https://github.com/ggml-org/llama.cpp/releases/download/b10950/llama-b10950-bin-macos-arm64.tar.gz': [
    '6e15e4b6e6646f247dcac1d1de056366b32a1cf73ae747874df9f84bb822e54b',
    11_145_395,
  ],
} as const;
