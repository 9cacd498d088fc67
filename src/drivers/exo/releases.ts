import { githubArchive, type Releases, withKnown } from '../../desired/releases.ts';

const repository = 'exo-explore/exo';

/** exo's app as a disk image. @see exo: installation */
export const exoReleases: Releases = {
  form: /^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}([-+.][0-9A-Za-z.+-]{1,24})?$/,
  example: '1.0.71',
  archive: (version) => withKnown(githubArchive(repository, `v${version}`, `EXO-${version}.dmg`), known),
};

const known = {
  'https://github.com/exo-explore/exo/releases/download/v1.0.71/EXO-1.0.71.dmg': [
    'bc81a23ec647a995c5f8237857e749bc3de7ba8ec40f2aab39886c1a04beaac7',
    412_972_413,
  ],
} as const;
