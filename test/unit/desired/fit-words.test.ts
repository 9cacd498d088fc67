import { describe, expect, it } from 'vitest';
import { needSentence as needSentenceItself } from '../../../src/drivers/fit-nearest.ts';
import type { NodeFit } from '../../../src/model/fit.ts';
import { onOnePage, onPage } from '../one-page.ts';

const needSentence = onPage(needSentenceItself);

describe('the sentence about memory', () => {
  const fit = {
    node: 'studio-1',
    needBytes: 400e9,
    memoryBytes: 500e9,
    budget: { kind: 'desired', bytes: 450e9 },
    shares: [],
  } as unknown as NodeFit;

  it('compares the need with total memory if a Mac would slow down, or else with the GPU limit', () => {
    for (const verdict of ['degraded', 'near-degraded'] as const) {
      expect(needSentence([fit], verdict)).toBe('studio-1 needs 400.0 GB of 500.0 GB, 80 %.');
    }
    expect(needSentence([fit], 'fits')).toBe('studio-1 needs 400.0 GB of the 450.0 GB that its GPU may use.');
  });
});

onOnePage('fit-words');
