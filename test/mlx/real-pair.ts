import { copyFile, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileValue, filePart, pairFile } from '../scenarios/converge-file.ts';
import { nodeArchive } from '../scenarios/published-sources.ts';
import { type RealMlx, requirements } from './real-mlx.ts';

/** Writes the archive and the model of the real mlx_lm. */
export async function writeRealSources({ archive, model }: RealMlx, folder: string): Promise<void> {
  await copyFile(archive(), join(folder, 'uv.tar.gz'));
  await cp(model, join(folder, 'model'), { recursive: true });
}

/** The keys of a runtime with the sources that {@link writeRealSources} wrote. */
export const realRuntime = ({ version }: RealMlx, folder: string): FileValue => ({
  archive: join(folder, 'uv.tar.gz'),
  python: version,
  requirements,
});

/** The pair with a mesh of mlx over TCP, whose model is the one of the folder. */
export const mlxPair = (folder: string, runtime: FileValue): FileValue =>
  pairFile((file) => {
    file['gateway'] = { node: nodeArchive };
    file['runtimes'] = { mlx: { driver: 'mlx', ...runtime } };
    file['models'] = { tiny: { source: join(folder, 'model') } };
    const keys = { model: 'tiny', runtime: 'mlx', transport: 'tcp', context: '2k', expect: { firstToken: '20s' } };
    Object.assign(filePart(file, 'placements', 'chat'), keys);
  });
