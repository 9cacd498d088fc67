import { type RunTiming, realTiming, scaledTiming } from '../apply/run-timing.ts';
import type { Run } from './verb.ts';

/**
 * The times of a run: those for real Macs, and with `--sim` as much shorter as the clocks of the simulated ones run
 * faster, by `MESHWRIGHT_SIM_SCALE` (0.1 is ten times as fast).
 */
export function timingFor({ options, env }: Run): RunTiming {
  const scale = Number(env['MESHWRIGHT_SIM_SCALE']);
  return options.sim && scale > 0 && scale <= 1 ? scaledTiming(scale) : realTiming;
}
