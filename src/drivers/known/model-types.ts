import { inRange } from '../../desired/version-range.ts';
import { given } from '../../model/given.ts';
import { exoTypes, mlxTable } from './tables.generated.ts';
import type { ExoType, MlxSupport } from './tables.ts';

/** What the runtimes can do with a kind of model. An absent runtime means that nothing is known about it. */
export interface ModelType {
  readonly mlx?: MlxSupport | 'unsupported';
  readonly exo?: ExoType;
}

/**
 * The oldest mlx-lm whose server has all options of a rank: `--prompt-cache-bytes` came with 0.31.0;
 * `--decode-concurrency`, `--prompt-concurrency` and `--pipeline` came with 0.30.6.
 *
 * @see mlx_lm/server.py of mlx-lm at v0.30.5 to v0.31.3
 */
export const oldestMlxLm = '0.31.0';

/** The newest mlx-lm version in the table; newer versions may split more models. */
export const newestMlxLm = mlxTable.versions.at(-1) ?? oldestMlxLm;

/** The newest exo versions in exo.yaml: the last release, and the version that a build of main declares. */
export const newestExo = { release: '1.0.71', main: '1.0.72' } as const;

/** Kinds of known models that neither runtime has. */
const otherTypes = ['glm5_next', 'qwen4exp'];

const mlxTypes: Readonly<Record<string, MlxSupport>> = Object.fromEntries(
  mlxTable.kinds.flatMap(({ can, types }) => types.map((type): [string, MlxSupport] => [type, can])),
);

/**
 * The kinds of models by `model_type` in `config.json`. `npm run mlx-types` reads mlx-lm's part from the released wheels,
 * so that a kind of model without an entry there has no class in any of these versions.
 */
export const modelTypes: Readonly<Record<string, ModelType>> = Object.fromEntries(
  [...new Set([...Object.keys(mlxTypes), ...Object.keys(exoTypes), ...otherTypes])].map((type): [string, ModelType] => [
    type,
    { mlx: mlxTypes[type] ?? 'unsupported', ...given({ exo: exoTypes[type] }) },
  ]),
);

/** What is known about a `model_type`; undefined if meshwright does not know it. */
export const modelType = (name: string): ModelType | undefined =>
  Object.hasOwn(modelTypes, name) ? modelTypes[name] : undefined;

/** Whether this exo version splits a model of this class by tensor without a card. */
export const hasExoClass = (name: string, version: string): boolean =>
  Object.values(modelTypes).some(({ exo }) => exo?.class === name && inRange(version, exo.tensor));
