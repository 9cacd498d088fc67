import { describe, expect, it } from 'vitest';
import { digest } from '../../../../../src/model/digest.ts';
import {
  furthest,
  hasProgressed,
  startDeadline as startDeadlineItself,
} from '../../../../../src/rack/placement/mesh/start-mesh.ts';
import { parseRankProgress } from '../../../../../src/rack/placement/observed/rank-log-script.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const startDeadline = onPage(startDeadlineItself);

const mib = 1_048_576;
const file = (sizeBytes: number) => ({ path: 'model.safetensors', sha256: digest('a'.repeat(64)), sizeBytes });

describe('the start deadline', () => {
  it('combines a stall timeout for the first token with a total limit based on the model size', () => {
    expect(startDeadline({ files: [] }, 60_000)).toEqual({ stallMs: 60_000, boundMs: 180_000 });
    const large = startDeadline({ files: [file(400_000_000_000), file(335_000_000_000)] }, 60_000);
    expect(large).toEqual({ stallMs: 60_000, boundMs: 60_000 + 3 * 1_470_000 + 120_000 });
  });
});

describe('rank progress', () => {
  const before = { residentBytes: 100 * mib, logBytes: 10 };

  it('is significant memory growth or new log output', () => {
    expect(hasProgressed(before, { residentBytes: 102 * mib, logBytes: 10 })).toBe(true);
    expect(hasProgressed(before, { residentBytes: 90 * mib, logBytes: 11 })).toBe(true);
    expect(hasProgressed(before, { residentBytes: 101 * mib, logBytes: 10 })).toBe(false);
  });

  it('is measured from the highest memory use so far', () => {
    const after = furthest(before, { residentBytes: 50 * mib, logBytes: 5 });
    expect([after, hasProgressed(after, before)]).toEqual([before, false]);
  });

  it("is unknown when the node's output is not in the expected form", () => {
    expect(parseRankProgress('rss=1048576\nlog=20\n')).toEqual({ residentBytes: mib, logBytes: 20 });
    expect([parseRankProgress(''), parseRankProgress('rss=\nlog=1\n')]).toEqual([undefined, undefined]);
  });
});

onOnePage('start-deadline');
