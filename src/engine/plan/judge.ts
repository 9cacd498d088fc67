import { stayingPlacements, stoppingRanks } from '../../rack/placement/state/staying.ts';
import type { View } from '../../rack/resource.ts';
import type { Scope } from '../goals/scope.ts';
import { type Assessed, assessAll } from './assess.ts';
import type { Context } from './context.ts';
import { type Sifted, sift } from './sift.ts';

/** All that resources say about the fleet, and what becomes of it. */
interface Judged {
  readonly context: Context;
  readonly assessed: readonly Assessed[];
  readonly sifted: Sifted;
}

/**
 * What can be changed now, and what waits. Whether a placement that is to be stopped or moved back from its fallback makes
 * room for others is known only when all that this waits for is: then everything is judged again beside those that stay.
 * Each round can only add to them, and only take from their ranks that are stopped each by itself.
 */
export function judge(scope: Scope, view: View): Judged {
  const context = { scope, view };
  const assessed = assessAll(context);
  const sifted = sift(assessed, context);
  const changing = sifted.ready.map(({ property }) => property);
  const staying = stayingPlacements(view, changing);
  const stopping = staying.length === 0 ? [] : stoppingRanks(view, changing);
  const isSettled = staying.length === view.staying.length && stopping.length === view.stopping.length;
  return isSettled ? { context, assessed, sifted } : judge(scope, { ...view, staying, stopping });
}
