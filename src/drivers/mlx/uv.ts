import { githubArchive, withKnown } from '../../desired/releases.ts';

const version = '0.11.7';

/** The uv that builds the runtime, unless the file names another. */
export const uvArchive = withKnown(githubArchive('astral-sh/uv', version, 'uv-aarch64-apple-darwin.tar.gz'), {
  'https://github.com/astral-sh/uv/releases/download/0.11.7/uv-aarch64-apple-darwin.tar.gz': [
    '66e37d91f839e12481d7b932a1eccbfe732560f42c1cfb89faddfa2454534ba8',
  ],
});
