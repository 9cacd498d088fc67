import {
  meshFailure as failureOf,
  judgeMesh as judge,
  type Mesh,
} from '../../../../src/rack/placement/state/judge-mesh.ts';
import { sayValue } from '../../one-page.ts';

/** Records the mesh state, without its rank states, in the golden page of the test file. */
export function judgeMesh(...about: Parameters<typeof judge>): Mesh {
  const mesh = judge(...about);
  const { members: _, ...judged } = mesh;
  sayValue(judged);
  return mesh;
}

/** Records the failure in the golden page of the test file. */
export const meshFailure = (...about: Parameters<typeof failureOf>): ReturnType<typeof failureOf> =>
  sayValue(failureOf(...about));
