import type { DriverKeys } from '../../desired/rules/rule.ts';
import { requirementsName } from '../../desired/settle/python-packages.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { jsonObject } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { isText } from '../contract/version-keys.ts';
import { uvArchive } from './uv.ts';

/** mlx-lm over JACCL or TCP. The archive is that of uv; `requirements.lock` is an extra file. */
export interface MlxRuntime extends DesiredRuntime {
  readonly driver: 'mlx';
  readonly python: string;
}

export const keys: DriverKeys<MlxRuntime> = {
  needs: ['python', 'requirements'],
  takes: ['wheels'],
  tool: uvArchive,
  ofPlacements: ['args', 'parallel', 'backend'],
  talksInRings: true,
  resolve: ({ requirements = '', python = '', wheels }) => ({
    driver: 'mlx',
    extras: [{ name: requirementsName, source: requirements }],
    python,
    ...given({ wheels }),
  }),
  ofVersion: ({ python, packages }) => {
    const mlxLm = jsonObject(packages)?.['mlx-lm'];
    if (!isText(python)) return undefined;
    return { driver: 'mlx', python, ...(isText(mlxLm) ? { packages: { 'mlx-lm': mlxLm } } : {}) };
  },
  packages: ['mlx', 'mlx-lm'],
};
