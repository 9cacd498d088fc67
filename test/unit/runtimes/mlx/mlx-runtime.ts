import type { MlxRuntime } from '../../../../src/model/desired.ts';
import { digestOf } from '../../../../src/model/digest.ts';

/** A runtime of mlx whose archive and tree are known. */
export const mlxRuntime: MlxRuntime = {
  driver: 'mlx',
  name: 'mlx',
  archive: '/dist/uv.tar.gz',
  sha256: digestOf('uv'),
  digest: digestOf('tree'),
  extras: [],
  python: '3.12',
};
