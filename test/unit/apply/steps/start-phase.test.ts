import { describe, expect, it } from 'vitest';
import { firstTokenText, loadingText } from '../../../../src/apply/steps/start-phase.ts';

describe('the phases of a start', () => {
  const time = { spentMs: 40_000, limitMs: 720_000 };

  it('count the loaded ranks, with the time against the deadline', () => {
    expect(loadingText({ joined: 3, all: 5 }, time)).toBe('loading: 3 of 5 ranks, 40 s of at most 12 min');
  });

  it('name the last answer while no token has arrived', () => {
    expect(firstTokenText(time)).toBe('waiting for the first token, 40 s of at most 12 min');
    expect(firstTokenText(time, 'the endpoint returned status 503')).toBe(
      'waiting for the first token, 40 s of at most 12 min: the endpoint returned status 503',
    );
  });
});
