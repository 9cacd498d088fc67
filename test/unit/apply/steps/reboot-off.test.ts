import { expect, it } from 'vitest';
import { silenceCounter } from '../../../../src/apply/steps/reboot.ts';

it('silenceCounter reports a Mac as off after two silent checks in a row', () => {
  const isOff = silenceCounter();
  expect([true, false, true, true].map(isOff)).toEqual([false, false, false, true]);
});
