import { innerPort } from '../../desired/rank-port.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import type { PlacementFinding } from '../contract/placement-check.ts';

/**
 * A gateway asks for keys, and exo's own API stays open behind it, on every interface of every node of the placement.
 *
 * @see exo at b5375f8, src/exo/api/main.py:1942 (bind 0.0.0.0) and 337 (every origin)
 */
export function openApi({ name, publication, nodes }: DesiredPlacement): readonly PlacementFinding[] {
  if (publication === undefined) return [];
  const detail = `exo's API listens on port ${innerPort(name)} of ${nodes.join(', ')}, on every interface and without a key: it answers, deletes the placement, and shows prompts (/events).`;
  return [{ code: 'exo/open-api', severity: 'warning', detail }];
}
