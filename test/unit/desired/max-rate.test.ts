import { describe, expect, it } from 'vitest';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const load = (rate: string) =>
  loadCluster(
    `schema: 1\nname: rack\nnodes:\n  studio-1: { host: studio-1.lan }\ndownloads: { maxRate: ${rate} }\n`,
    'cluster.yaml',
  );

describe('downloads.maxRate', () => {
  it.each([
    ['600Mb/s', 75_000_000],
    ['2.5Gb/s', 312_500_000],
  ])('is in bits: %s', (rate, bytes) => {
    expect(load(rate).fleet?.downloads?.maxBytesPerSecond).toBe(bytes);
  });

  it.each(['600MB/s', '0Mb/s', '600', 'fast'])('is refused with its place: %s', (rate) => {
    const [problem] = load(rate).diagnostics;
    expect([problem?.code, problem?.where?.line]).toEqual([expect.stringMatching(/^schema\//), 5]);
  });
});
