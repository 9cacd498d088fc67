import type { DesiredFleet, DesiredRuntime } from '../../../src/model/desired.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { type MeshChanges, meshFleet } from './rack-with-mesh.ts';

const tree = { archive: '/archives/x.tar.gz', sha256: digestOf('x'), digest: digestOf('x'), extras: [], sizeBytes: 1 };
const runtimes: Readonly<Record<string, DesiredRuntime>> = {
  'llamacpp-rpc': { ...tree, name: 'reference', driver: 'llamacpp-rpc', server: 'a', worker: 'b', cache: 'none' },
  mlx: { ...tree, name: 'reference', driver: 'mlx', python: '3.12' },
  exo: { ...tree, name: 'reference', driver: 'exo', version: '1.0.71', dialect: '1.0.71', program: 'exo' },
};

/** {@link meshFleet} whose runtime is one of this driver; `command` is what it has anyway. */
export function fleetOf(driver: string, changes: MeshChanges = {}): DesiredFleet {
  const fleet = meshFleet(changes);
  const runtime = runtimes[driver];
  return runtime === undefined ? fleet : { ...fleet, runtimes: [runtime] };
}
