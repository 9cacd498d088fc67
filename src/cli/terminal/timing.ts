import { type RunTiming, realTiming, scaledTiming } from '../../apply/run-timing.ts';
import type { Run } from '../verb.ts';

/** How fast the clocks of simulated Macs run unless `MESHWRIGHT_SIM_SCALE` says otherwise: twenty times. */
const usualScale = 0.05;

/** The times of a run: those for real Macs, or with `--sim` those for the clocks of the simulated ones. */
export function timingFor({ options, env }: Pick<Run, 'options' | 'env'>): RunTiming {
  if (!options.sim) return realTiming;
  const scale = Number(env['MESHWRIGHT_SIM_SCALE']);
  return scaledTiming(scale > 0 && scale <= 1 ? scale : usualScale);
}
