import { type Step, stepId } from '../../model/step.ts';
import type { Blocker } from '../../rack/resource.ts';

/** One step per entry of the work list that hands at the rack can do, so that preview, journal and runs carry it. */
export function handsSteps(blockers: readonly Blocker[]): readonly Step[] {
  const hands = blockers.filter(({ isHands }) => isHands);
  return hands.map((blocker, index): Step => {
    const isSame = (one: Blocker): boolean => one.node === blocker.node && one.code === blocker.code;
    const earlier = hands.slice(0, index).filter(isSame).length;
    const name = `${blocker.node}/hands/${blocker.code.replace('/', '-')}`;
    return {
      id: stepId(earlier === 0 ? name : `${name}-${earlier + 1}`),
      node: blocker.node,
      resource: blocker.resource,
      class: 'manual',
      act: { kind: 'hands', code: blocker.code },
      effect: { kind: 'none' },
      changes: [],
      needs: [],
      peers: blocker.peers,
      establishes: [],
      // Nobody waits for it: the next observation shows whether it was done.
      deadlineMs: 0,
    };
  });
}
