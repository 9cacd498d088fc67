import { packageSource } from '../../desired/package-source.ts';
import { githubArchive, withKnown } from '../../desired/releases.ts';
import type { DriverKeys } from '../../desired/rules/rule.ts';
import { builtName, listName, requirementsName, wheelName } from '../../desired/settle/python-packages.ts';
import type { DesiredRuntime, ListedPackage, PackageSource } from '../../model/desired.ts';
import { jsonObject } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { isText } from '../contract/version-keys.ts';
import { rules } from './rules.ts';

/**
 * mlx-lm over JACCL or TCP. The archive is that of uv; `requirements.lock` is an extra file, from the file's
 * `requirements` or made for its `version` or `source`.
 */
export interface MlxRuntime extends DesiredRuntime {
  readonly driver: 'mlx';
  readonly python: string;
}

const mlxLm = 'mlx-lm';

/** The Python for which the file sets none: the newest one that all compiled dependencies of mlx-lm have wheels for. */
const defaultPython = '3.12';

/** The uv that builds the runtime, unless the file names another. */
export const uvArchive = withKnown(githubArchive('astral-sh/uv', '0.11.7', 'uv-aarch64-apple-darwin.tar.gz'), {
  'https://github.com/astral-sh/uv/releases/download/0.11.7/uv-aarch64-apple-darwin.tar.gz': [
    '66e37d91f839e12481d7b932a1eccbfe732560f42c1cfb89faddfa2454534ba8',
  ],
});

export const keys: DriverKeys<MlxRuntime> = {
  needs: [],
  takes: ['version', 'source', 'python', 'requirements', 'wheels'],
  tool: uvArchive,
  rules,
  ofPlacements: ['args', 'parallel', 'backend'],
  talksInRings: true,
  // @see cancels in mlx.ts
  needsGateway: true,
  resolve: ({ version, source, requirements, python = defaultPython, wheels }) => ({
    driver: 'mlx',
    python,
    ...packagesFrom({
      version,
      requirements,
      python,
      source: source === undefined ? undefined : packageSource(source),
    }),
    ...given({ wheels }),
  }),
  ofVersion: ({ python, packages }) => {
    const version = jsonObject(packages)?.[mlxLm];
    if (!isText(python)) return undefined;
    return { driver: 'mlx', python, ...(isText(version) ? { packages: { [mlxLm]: version } } : {}) };
  },
  packages: ['mlx', mlxLm],
};

interface Wanted {
  readonly version: string | undefined;
  readonly requirements: string | undefined;
  readonly python: string;
  readonly source: PackageSource | undefined;
}

/** The files with the packages. `apply` makes those of a version or a commit next to the lock. */
function packagesFrom({ version, requirements, python, source }: Wanted): Pick<MlxRuntime, 'extras' | 'packages'> {
  if (requirements === undefined && source !== undefined) {
    const lists = { name: mlxLm, python, source };
    return { extras: [listOf(lists), { name: wheelName, source: `./${builtName(lists)}`, lists }] };
  }
  return version === undefined || requirements !== undefined
    ? { extras: [{ name: requirementsName, source: requirements ?? '' }] }
    : { extras: [listOf({ name: mlxLm, version, python })], packages: { [mlxLm]: version } };
}

const listOf = (lists: ListedPackage) => ({ name: requirementsName, source: `./${listName(lists)}`, lists });
