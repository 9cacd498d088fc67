import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { aStep } from '../../rack/plans.ts';
import { leakWarnings } from '../remote/leak-warnings.ts';
import { aborted, play } from './play-steps.ts';

describe('an interrupted run', () => {
  it("removes a large group's abort listeners without a leak warning from Node", async () => {
    const [person, lost] = [new AbortController(), new AbortController()];
    const ranks = Array.from({ length: 12 }, (_, at) => aStep(`kick-${at}`, { node: `studio-${at}`, group: 'kimi' }));
    const begun: string[] = [];
    let most = 0;
    const warnings = await leakWarnings(() =>
      play(ranks, {
        options: { abort: person.signal, forbidden: lost.signal },
        inside: async (id, signal) => {
          begun.push(id);
          if (begun.length === ranks.length) person.abort();
          await aborted(signal);
          await sleep(1);
          most = Math.max(most, getEventListeners(lost.signal, 'abort').length);
        },
      }),
    );
    expect([most > ranks.length, warnings, getEventListeners(lost.signal, 'abort')]).toEqual([true, [], []]);
  });
});
