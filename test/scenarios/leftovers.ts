import { expect } from 'vitest';
import { processesBelow } from '../processes-below.ts';
import { eventually } from './sim-fixture.ts';

/**
 * Fails when a process that was started with a path of this folder outlives what the folder was for. Whoever was killed
 * a moment ago may still be on its way out.
 */
export async function expectNobodyBelow(folder: string): Promise<void> {
  if (await eventually(() => processesBelow(folder).length === 0)) return;
  expect(processesBelow(folder)).toEqual([]);
}
