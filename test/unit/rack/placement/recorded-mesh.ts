import {
  meshFailure as failureOf,
  type Mesh,
  readMesh as read,
} from '../../../../src/rack/placement/mesh/read-mesh.ts';
import { sayValue } from '../../one-page.ts';

/** Records the mesh state, without its rank states, in the golden page of the test file. */
export function readMesh(...about: Parameters<typeof read>): Mesh {
  const mesh = read(...about);
  const { ranks: _, ...recorded } = mesh;
  sayValue(recorded);
  return mesh;
}

/** Records the failure in the golden page of the test file. */
export const meshFailure = (...about: Parameters<typeof failureOf>): ReturnType<typeof failureOf> =>
  sayValue(failureOf(...about));
