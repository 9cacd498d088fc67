import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../rack/running.ts';
import type { Place } from './place.ts';

/** What launchd prints about the keeper of each simulated Mac; empty without a keeper. */
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

/** Waits until every keeper has finished a round since boot, so that its settings are restored. */
export async function keepersAtRest(place: Place): Promise<void> {
  const isAtRest = (text: string): boolean =>
    /^\tstate = not running$/m.test(text) && /^\tlast exit code = 0$/m.test(text);
  expect(await eventually(() => prints(place).every(isAtRest))).toBe(true);
}
