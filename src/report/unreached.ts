import type { Unreached } from '../engine/plan/unreached.ts';
import { counted } from './counted.ts';

/** The field of a document that names the nodes of which it says nothing; no field where all were reached. */
export const unreachedField = (unreached: Unreached = {}): { readonly unreached?: Unreached } =>
  Object.keys(unreached).length === 0 ? {} : { unreached };

/** `4 nodes`, or `3 of 4 nodes seen` where some were not reached. */
export function seenText(seen: number, unreached: Unreached = {}): string {
  const lost = Object.keys(unreached).length;
  return lost === 0 ? counted(seen, 'node') : `${seen} of ${counted(seen + lost, 'node')} seen`;
}
