import { linkText } from '../../../../src/desired/links/link-network.ts';
import type { DesiredFleet, DesiredPlacement, LlamaRuntime } from '../../../../src/model/desired.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import type { TreeFile } from '../../../../src/model/node-script.ts';
import { meshFleet } from '../../mesh/rack-with-mesh.ts';

/** llama.cpp from its archive, settled. */
const llama: LlamaRuntime = {
  name: 'llama',
  driver: 'llamacpp-rpc',
  archive: '/archives/llama.tar.gz',
  sha256: digestOf('archive'),
  digest: digestOf('archive'),
  extras: [],
  sizeBytes: 1_000,
  server: 'bin/llama-server',
  worker: 'bin/ggml-rpc-server',
  cache: 'none',
};

/** A file of a model. */
export const fileAt = (path: string): TreeFile => ({ path, sha256: digestOf(path), sizeBytes: 8 });

/** What is different from {@link fleetWith}. */
export interface LlamaChanges {
  readonly placement?: Partial<DesiredPlacement>;
  readonly runtime?: Partial<LlamaRuntime>;
  readonly files?: readonly TreeFile[];
  /** Which links are kept, by their texts. */
  readonly links?: (text: string) => boolean;
}

/** The placement `kimi` on studio-1, studio-2 and studio-3, with llama.cpp and one GGUF. */
export function fleetWith({ placement, runtime, files, links = () => true }: LlamaChanges = {}): DesiredFleet {
  const fleet = meshFleet({ placement: { runtime: 'llama', sharding: 'pipeline', ...placement } });
  return {
    ...fleet,
    runtimes: [{ ...llama, ...runtime }],
    models: fleet.models.map((model) => ({ ...model, files: files ?? [fileAt('config.json'), fileAt('tiny.gguf')] })),
    thunderbolt: {
      ...fleet.thunderbolt,
      links: fleet.thunderbolt.links.filter(({ ends }) => links(linkText(ends))),
    },
  };
}
