import { expect } from 'vitest';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { eventually } from '../rack/running.ts';

/** Waits for keeper rounds begun at a start: their changes are in no plan. */
export const keepersAtRest = async (fleet: RunningFleet): Promise<void> => {
  const isAtRest = (): boolean => !fleet.processes().some(({ label }) => label === 'dev.meshwright.keeper');
  expect(await eventually(isAtRest)).toBe(true);
};
