import type { ClockOffset } from '../../model/facts/mac.ts';
import type { ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { clockFact } from './fact.ts';

const toleratedMs = 5_000;

export interface SeenClock extends ClockOffset {
  readonly name: string;
}

/** The clocks that are off because of their nodes, or because this computer's clock is wrong. */
export interface Clocks {
  readonly kind: 'nodes' | 'this-computer';
  readonly off: readonly SeenClock[];
}

const isOff = ({ offsetMs, uncertaintyMs }: SeenClock): boolean => Math.abs(offsetMs) > toleratedMs + uncertaintyMs;

/** True if one true time fits all nodes' clocks; then this computer's clock is wrong. */
function agree(seen: readonly SeenClock[]): boolean {
  const latestStart = Math.max(...seen.map(({ offsetMs, uncertaintyMs }) => offsetMs - uncertaintyMs));
  const earliestEnd = Math.min(...seen.map(({ offsetMs, uncertaintyMs }) => offsetMs + uncertaintyMs));
  return latestStart <= earliestEnd;
}

/**
 * Finds the clocks that are off by more than five seconds beyond the observation's precision. If there are two or more
 * clocks and all are off together, this computer's clock is wrong.
 */
export function judgeClocks(nodes: readonly Pick<ExaminedNode, 'name' | 'facts'>[]): Clocks {
  const seen = nodes.flatMap(({ name, facts }): readonly SeenClock[] => {
    const clock = readValue(facts, clockFact);
    return clock === undefined ? [] : [{ name, ...clock }];
  });
  const isOwn = seen.length >= 2 && seen.every(isOff) && agree(seen);
  return { kind: isOwn ? 'this-computer' : 'nodes', off: seen.filter(isOff) };
}
