import {
  meshFailure as failureOf,
  judgeMesh as judge,
  type Mesh,
} from '../../../../src/rack/placement/state/judge-mesh.ts';
import { sayValue } from '../../one-page.ts';

/** The judgement, which also stands on the page of the test file, without what was seen of its members. */
export function judgeMesh(...about: Parameters<typeof judge>): Mesh {
  const mesh = judge(...about);
  const { members: _, ...judged } = mesh;
  sayValue(judged);
  return mesh;
}

/** The failure, which also stands on the page of the test file. */
export const meshFailure = (...about: Parameters<typeof failureOf>): ReturnType<typeof failureOf> =>
  sayValue(failureOf(...about));
