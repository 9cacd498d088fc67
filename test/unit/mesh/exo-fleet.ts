import type { DesiredFleet, DesiredModel, DesiredPlacement, ExoRuntime } from '../../../src/model/desired.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { meshFleet } from './rack-with-mesh.ts';

/** What is different from {@link exoFleet}. */
export interface ExoChanges {
  readonly placement?: Partial<DesiredPlacement>;
  readonly runtime?: Partial<ExoRuntime>;
  readonly model?: Partial<DesiredModel>;
}

const fileOf = (path: string, sizeBytes: number) => ({ path, sha256: digestOf(path), sizeBytes });

/** A placement `kimi` of exo over RDMA on studio-1, studio-2 and studio-3, all of it settled. */
export function exoFleet({ placement = {}, runtime = {}, model = {} }: ExoChanges = {}): DesiredFleet {
  const fleet = meshFleet({ placement: { runtime: 'exo', transport: 'rdma', ...placement } });
  return {
    ...fleet,
    runtimes: [
      {
        name: 'exo',
        driver: 'exo',
        archive: '/archives/EXO.dmg',
        sha256: digestOf('image'),
        digest: digestOf('image'),
        sizeBytes: 1_000,
        extras: [],
        version: '1.0.72',
        dialect: 'main',
        program: 'EXO.app/Contents/Resources/exo/exo',
        ...runtime,
      },
    ],
    models: [
      {
        name: 'tiny',
        repository: 'acme/Tiny-4bit',
        source: { kind: 'controller', folder: '/models/tiny' },
        files: [
          fileOf('config.json', 100),
          fileOf('model-1.safetensors', 2_000),
          fileOf('model-2.safetensors', 1_000),
          fileOf('model.safetensors.index.json', 100),
        ],
        digest: digestOf('model'),
        ...model,
      },
    ],
  };
}
