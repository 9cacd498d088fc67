import { describe } from 'vitest';
import { sampleOf } from './sample.ts';

const leaveOut = Object.assign(() => undefined, {
  each: () => leaveOut,
  skipIf: () => leaveOut,
}) as unknown as typeof describe;

/**
 * `describe` for one of several independent groups in a slow file: CI runs one group at a time, and `npm run nightly` all
 * of them. If a file has only group 0 of two, CI runs it in every second turn of the file.
 */
export function inTurn(group: number, groups: number): typeof describe {
  const all = Array.from({ length: groups }, (_, at) => at);
  return sampleOf(all, { few: 1, oneIn: groups }).includes(group) ? describe : leaveOut;
}
