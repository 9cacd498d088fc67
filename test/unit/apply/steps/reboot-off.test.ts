import { expect, it } from 'vitest';
import { silenceCounter } from '../../../../src/apply/steps/reboot.ts';

it('takes a Mac for switched off after two silent looks in a row, and not after one', () => {
  const isOff = silenceCounter();
  expect([true, false, true, true].map(isOff)).toEqual([false, false, false, true]);
});
