import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../rack/running.ts';
import type { Place } from './place.ts';

/** What launchd says of the keeper of each simulated Mac of this place; empty where there is none. */
function prints(place: Place): readonly string[] {
  const fleets = join(place.state, 'sim');
  return readdirSync(fleets).flatMap((fleet) => {
    const roots = join(fleets, fleet, 'roots');
    return readdirSync(roots).map((node) => {
      try {
        return readFileSync(join(roots, node, '.sim/launchd/dev.meshwright.keeper'), 'utf8');
      } catch {
        return '';
      }
    });
  });
}

/** Waits until every keeper has ended a round since its Mac was started: what that brings back is there again. */
export async function keepersAtRest(place: Place): Promise<void> {
  const isAtRest = (text: string): boolean =>
    /^\tstate = not running$/m.test(text) && /^\tlast exit code = 0$/m.test(text);
  expect(await eventually(() => prints(place).every(isAtRest))).toBe(true);
}
