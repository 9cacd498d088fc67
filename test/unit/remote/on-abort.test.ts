import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { onAbort } from '../../../src/remote/on-abort.ts';
import { leakWarnings } from './leak-warnings.ts';

describe('onAbort', () => {
  it('calls each of many listeners once without a leak warning from Node', async () => {
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal]);
    const told = Array.from({ length: 64 }, () => 0);
    const warnings = await leakWarnings(async () => {
      told.forEach((_, at) => {
        onAbort(signal, () => {
          told[at] = (told[at] ?? 0) + 1;
        });
      });
      await nextTurn();
    });
    expect([getEventListeners(signal, 'abort').length, warnings]).toEqual([64, []]);
    controller.abort();
    expect([new Set(told), getEventListeners(signal, 'abort').length]).toEqual([new Set([1]), 0]);
  });

  it('calls back immediately after an earlier abort, and never after removal', () => {
    const told: string[] = [];
    onAbort(AbortSignal.abort(), () => told.push('immediately'))();
    const controller = new AbortController();
    const forget = onAbort(controller.signal, () => told.push('never'));
    forget();
    controller.abort();
    onAbort(undefined, () => told.push('never'))();
    expect([told, getEventListeners(controller.signal, 'abort')]).toEqual([['immediately'], []]);
  });
});
