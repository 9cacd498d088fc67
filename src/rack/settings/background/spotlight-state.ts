import type { SpotlightVolume } from '../../../model/facts/mac-settings.ts';
import { type Known, known, unknown } from '../../../model/known.ts';

/** Whether Spotlight indexes any volume; unknown where it indexes none that is known, and one is not. */
export function spotlightState(seen: Known<readonly SpotlightVolume[]>): Known<'on' | 'off'> {
  if (seen.kind === 'unknown') return seen;
  if (seen.value.some(({ state }) => state === 'on')) return known('on');
  const strange = seen.value.find(({ state }) => state === 'other');
  return strange === undefined
    ? known('off')
    : unknown('garbled', `mdutil says of ${strange.volume} what nobody knows.`);
}
