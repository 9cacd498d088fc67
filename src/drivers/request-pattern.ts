import type { DesiredFleet } from '../model/desired.ts';
import { driverOf } from './registry.ts';

/** Which lines of the logs of a placement hold requests; undefined where its runtime is not known to print any. */
export function requestPatternOf(
  { placements, runtimes }: Pick<DesiredFleet, 'placements' | 'runtimes'>,
  name: string,
): string | undefined {
  const placement = placements.find((one) => one.name === name);
  const runtime = runtimes.find((one) => one.name === placement?.runtime);
  return runtime === undefined ? undefined : driverOf(runtime).requestPattern;
}
