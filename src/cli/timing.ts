import { type RunTiming, realTiming, scaledTiming } from '../apply/run-timing.ts';
import type { Run } from './verb.ts';

/** Simulated Macs answer at once and restart in seconds: nobody has to be patient with them, only with a busy computer. */
const simulatedTiming: RunTiming = {
  ...realTiming,
  gatePollMs: 200,
  jobPollMs: 200,
  retryMs: 500,
  rebootPausesMs: [300, 500, 1_000],
  rebootDelaySeconds: 0.5,
};

/**
 * The times of a run: those for real Macs; with `--sim` shorter pauses, and when `MESHWRIGHT_SIM_SCALE` says how fast
 * the clocks of the simulated Macs run (0.1 is ten times as fast), everything as much shorter, deadlines too.
 */
export function timingFor({ options, env }: Pick<Run, 'options' | 'env'>): RunTiming {
  if (!options.sim) return realTiming;
  const scale = Number(env['MESHWRIGHT_SIM_SCALE']);
  return scale > 0 && scale <= 1 ? scaledTiming(scale) : simulatedTiming;
}
