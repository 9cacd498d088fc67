import type { DesiredPlacement } from '../../model/desired.ts';
import type { StartPhase } from '../contract/driver.ts';

/**
 * The workers first, until each of them listens: a server that finds one of them absent ends at once. That a worker
 * listens is looked up on its own node, since it serves one connection at a time, and a silent one would keep the
 * server out.
 */
export const phases = ({ nodes }: Pick<DesiredPlacement, 'nodes'>): readonly StartPhase[] =>
  nodes.length === 1
    ? [{ ranks: 'leader', until: 'joined' }]
    : [
        { ranks: 'followers', until: 'joined' },
        { ranks: 'leader', until: 'joined' },
      ];
