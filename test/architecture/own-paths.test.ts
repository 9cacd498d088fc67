import { describe, expect, it } from 'vitest';
import { keeperLabel } from '../../src/node/paths/keeper-files.ts';
import { place, tool } from '../../src/node/paths/node-paths.ts';
import { gatewayLabel, listName, rankServiceLabel, sealName } from '../../src/node/paths/own-paths.ts';
import { filesBelow, textOf } from './sources.ts';

/** The scripts without comments, as they are sent. */
const scripts = filesBelow('src')
  .filter((file) => file.endsWith('.sh'))
  .map((file) => ({ file, text: textOf(file).replaceAll(/^#.*$/gm, '') }));

/** Every match of this form in the scripts, as `FILE: TEXT`. */
const found = (form: RegExp): readonly string[] =>
  scripts.flatMap(({ file, text }) => [...text.matchAll(form)].map(([, one]) => `${file}: ${one}`));

const isIn =
  (known: readonly string[]) =>
  (one: string): boolean =>
    known.some((path) => one.endsWith(`: ${path}`) || one.includes(`: ${path.replace(/\/?$/, '/')}`));

/** The paths in own-paths.ts and keeper-files.ts below `place.ours` that do not depend on a value. */
const ownFiles = ['own-paths', 'keeper-files'].flatMap((name) =>
  [...textOf(`src/node/paths/${name}.ts`).matchAll(/below\(place\.ours, ['`]([^'`$]+)/g)].map(([, path]) => path ?? ''),
);

/** The folders of `place` below our own folder, relative to it. */
const ownFolders = Object.values(place)
  .filter(({ path }) => path.startsWith(`${place.ours.path}/`))
  .map(({ path }) => path.slice(place.ours.path.length + 1));

/** Paths that only the lease scripts and the frame of all scripts use, in src/engine/scripts and root-script.ts. */
const isOfLease = (one: string): boolean => /: (?:lease|fence|now)(?:$|[./])/.test(one);

describe('a name in a .sh file', () => {
  it('is listed in own-paths.ts if it is a path in our folder', () => {
    const paths = found(/\$\{?b\}?\/([\w./-]*)/g);
    expect(paths).toContain('src/rack/placement/ranks/kick-rank.sh: rdma-starts');
    expect(paths.filter((one) => !isIn([...ownFiles, ...ownFolders])(one) && !isOfLease(one))).toEqual([]);
  });

  it('is not an absolute path, except for tools', () => {
    const paths = found(
      /((?<=\$R|\$\{R\})\/[\w./-]*|\/(?:etc|Library|opt|private|System|tmp|Users|var|Volumes)\/[\w./-]*)/g,
    );
    expect(paths.filter((one) => !isIn(Object.values(tool).map(({ path }) => path))(one))).toEqual([]);
  });

  it('is listed in own-paths.ts if it is a label or a file name', () => {
    const names = found(/((?:dev)?\.meshwright[\w.-]*)/g);
    expect(names).toContain(`src/rack/artifacts/trees/sealed-tree.sh: ${sealName}`);
    const known = [sealName, listName, keeperLabel, gatewayLabel('*'), rankServiceLabel('')];
    expect(names.filter((one) => !known.some((name) => one.endsWith(`: ${name}`)))).toEqual([]);
  });
});
