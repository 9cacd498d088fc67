import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { onAbort } from '../../../src/remote/on-abort.ts';
import { leakWarnings } from './leak-warnings.ts';

describe('onAbort', () => {
  it('calls each of many listeners once without a leak warning from Node', async () => {
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal]);
    const calls = Array.from({ length: 64 }, () => 0);
    const warnings = await leakWarnings(async () => {
      calls.forEach((_, at) => {
        onAbort(signal, () => {
          calls[at] = (calls[at] ?? 0) + 1;
        });
      });
      await nextTurn();
    });
    expect([getEventListeners(signal, 'abort').length, warnings]).toEqual([64, []]);
    controller.abort();
    expect([new Set(calls), getEventListeners(signal, 'abort').length]).toEqual([new Set([1]), 0]);
  });

  it('calls back immediately after an earlier abort, and never after removal', () => {
    const calls: string[] = [];
    onAbort(AbortSignal.abort(), () => calls.push('immediately'))();
    const controller = new AbortController();
    const forget = onAbort(controller.signal, () => calls.push('never'));
    forget();
    controller.abort();
    onAbort(undefined, () => calls.push('never'))();
    expect([calls, getEventListeners(controller.signal, 'abort')]).toEqual([['immediately'], []]);
  });
});
