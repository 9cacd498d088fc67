import { onFallback } from '../../../desired/layouts.ts';
import type { View } from '../../resource.ts';
import { judgeMesh } from './judge-mesh.ts';
import { runsOnFallback } from './layouts.ts';
import type { PlacementCase } from './placement-cases.ts';

/**
 * Whether stopping a placement may take something away from somebody, in the layout that runs: a start elsewhere, on
 * its fallback or back, cuts off those who are served where it is.
 */
export function isAnswering({ placement, mesh }: Pick<PlacementCase, 'placement' | 'mesh'>, view: View): boolean {
  const { nodes: observed } = view.observation;
  const own = placement.home ?? placement;
  const { name, nodes, firstTokenMs } = runsOnFallback(own, view.desired, observed) ? onFallback(own) : own;
  return mesh.isAnswering || judgeMesh({ placement: name, nodes, digest: '', firstTokenMs }, observed).isAnswering;
}
