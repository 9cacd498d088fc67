import type { DriverKeys } from '../../desired/rules/rule.ts';
import { listName, requirementsName } from '../../desired/settle/python-packages.ts';
import type { DesiredRuntime, ListedPackage } from '../../model/desired.ts';
import { jsonObject } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { isText } from '../contract/version-keys.ts';
import { rules } from './rules.ts';
import { uvArchive } from './uv.ts';

/**
 * mlx-lm over JACCL or TCP. The archive is that of uv; `requirements.lock` is an extra file, from the file's
 * `requirements` or made for its `version`.
 */
export interface MlxRuntime extends DesiredRuntime {
  readonly driver: 'mlx';
  readonly python: string;
}

const mlxLm = 'mlx-lm';

/** The Python for which the file sets none: the newest one that all compiled dependencies of mlx-lm have wheels for. */
const defaultPython = '3.12';

export const keys: DriverKeys<MlxRuntime> = {
  needs: [],
  takes: ['version', 'python', 'requirements', 'wheels'],
  tool: uvArchive,
  rules,
  ofPlacements: ['args', 'parallel', 'backend'],
  talksInRings: true,
  resolve: ({ version, requirements, python = defaultPython, wheels }) => ({
    driver: 'mlx',
    python,
    ...(version === undefined || requirements !== undefined
      ? { extras: [{ name: requirementsName, source: requirements ?? '' }] }
      : { extras: [listOf({ name: mlxLm, version, python })], packages: { [mlxLm]: version } }),
    ...given({ wheels }),
  }),
  ofVersion: ({ python, packages }) => {
    const version = jsonObject(packages)?.[mlxLm];
    if (!isText(python)) return undefined;
    return { driver: 'mlx', python, ...(isText(version) ? { packages: { [mlxLm]: version } } : {}) };
  },
  packages: ['mlx', mlxLm],
};

/** The list of packages of one version, which `apply` makes next to the lock. */
const listOf = (lists: ListedPackage) => ({ name: requirementsName, source: `./${listName(lists)}`, lists });
